import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { decodeCheckpoint, readCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { formatVerifierKey, parseVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { acceptCosignatures, formatAddCheckpoint } from '#shared/transparency/anchoring/witness-protocol.ts'
import { WitnessState } from '../../examples/witness/state.ts'
import { SmallLog } from '../shared/transparency/anchoring/small-log.ts'
import { vectorLog } from '../shared/transparency/anchoring/vectors.ts'
import { Program } from './program.ts'

const folder = mkdtempSync(join(tmpdir(), 'witness-'))
test.after.always(() => rmSync(folder, { recursive: true }))
const logKey = formatVerifierKey(vectorLog.key)

function argsOf(name: string, ...more: string[]): string[] {
  const files = ['--key-file', join(folder, `${name}.key`), '--state', join(folder, `${name}.json`)]
  return ['--name', `${name}.example/w`, ...files, '--log', logKey, '--port', '0', ...more]
}

const start = (name: string, ...more: string[]) => new Program('witness/main.ts', argsOf(name, ...more))

async function addressOf(witness: Program): Promise<{ key: string; url: string }> {
  const key = await witness.line(/\+/)
  const url = (await witness.line(/^listening on /)).slice('listening on '.length)
  return { key, url: `${url}/add-checkpoint` }
}

async function post(url: string, body: string): Promise<{ status: number; type: string | null; text: string }> {
  const response = await fetch(url, { method: 'POST', body })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

function submission(log: SmallLog, oldSize: number): string {
  return formatAddCheckpoint({ oldSize, proof: log.consistency(oldSize), note: log.checkpoint() })
}

test('a witness cosigns a growing log, remembers across a kill, and refuses a log that rolled back', async (t) => {
  const log = new SmallLog(vectorLog)
  log.fill(3)
  const atThree = submission(log, 0)
  const first = new Program('witness/main.ts', argsOf('a', '--init'), '--import=tsx')
  const { key, url } = await addressOf(first)
  t.is((await post(url, atThree)).status, 200)
  log.fill(300)
  const grown = await post(url, submission(log, 3))
  t.is(grown.status, 200)
  const note = log.checkpoint()
  const text = note.slice(0, note.indexOf('\n\n') + 1)
  const { lines, cosignatures } = acceptCosignatures(grown.text, text, [parseVerifierKey(key)])
  t.true((cosignatures[0]?.time ?? 0) > 1_700_000_000)
  t.is(decodeCheckpoint(note + lines, [vectorLog.key, parseVerifierKey(key)]).cosignatures.length, 1)
  await first.kill('SIGKILL')

  await using second = start('a')
  const again = await addressOf(second)
  t.is(again.key, key)
  t.deepEqual(await post(again.url, atThree), { status: 409, type: 'text/x.tlog.size', text: '303\n' })
  const fork = new SmallLog(vectorLog)
  fork.append([Buffer.from('other')])
  fork.fill(400)
  t.is((await post(again.url, submission(fork, 303))).status, 422)
  t.is((await post(again.url, submission(log, 303))).status, 200)
})

test('of many submissions at once, each cosigned one extends the one before', async (t) => {
  await using witness = start('b', '--init')
  const { url } = await addressOf(witness)
  const log = new SmallLog(vectorLog)
  const bodies: string[] = []
  for (let size = 1; size <= 20; size++) {
    log.fill(1)
    bodies.push(submission(log, 0))
  }
  const answers = await Promise.all(bodies.map((body) => post(url, body)))
  // All start from nothing, so exactly one can be the first.
  t.is(answers.filter(({ status }) => status === 200).length, 1)
  t.is(answers.filter(({ status }) => status === 409).length, 19)
  const stored: Record<string, { size: number }> = JSON.parse(readFileSync(join(folder, 'b.json'), 'utf8'))
  const winner = answers.findIndex(({ status }) => status === 200)
  t.is(
    stored[vectorLog.key.name]?.size,
    readCheckpoint((bodies[winner] ?? '').split('\n\n').slice(1).join('\n\n')).size,
  )
})

test('hostile requests are answered with their status and change nothing', async (t) => {
  await using witness = start('c', '--init')
  const { url } = await addressOf(witness)
  const before = readFileSync(join(folder, 'c.json'), 'utf8')
  t.is((await fetch(url)).status, 405)
  t.is((await fetch(`${url}/x`)).status, 404)
  t.is((await post(url, 'nonsense')).status, 400)
  t.is((await post(url, 'x'.repeat(1_000_000)).catch(() => ({ status: 413 }))).status, 413)
  const log = new SmallLog(vectorLog)
  log.fill(2)
  t.is((await post(url, submission(log, 0).replaceAll('log.example.test', 'other.example'))).status, 404)
  t.is((await post(url, submission(log, 0).replace('\n2\n', '\n3\n'))).status, 403)
  t.is(readFileSync(join(folder, 'c.json'), 'utf8'), before)
  t.is(statSync(join(folder, 'c.key')).mode & 0o777, 0o600)
  t.is(await witness.kill('SIGTERM'), 0)
})

test('a witness that lost or damaged its memory does not start', async (t) => {
  const made = start('d', '--init')
  await addressOf(made)
  await made.kill('SIGKILL')
  const twice = start('d', '--init')
  t.is(await twice.ended(), 2)
  t.regex(twice.errors, /exists already/)
  const state = join(folder, 'd.json')
  for (const content of ['', '[]', '{"o":{"size":-1,"root":"x"}}', '{"o":1,"o":2}']) {
    writeFileSync(state, content)
    t.throws(() => WitnessState.load(state))
  }
  t.is(await start('d').ended(), 2)
  rmSync(state)
  const lost = start('d')
  t.is(await lost.ended(), 2)
  t.regex(lost.errors, /absent; restore it/)
})
