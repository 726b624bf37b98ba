import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { signCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { formatVerifierKey, LOG_KEY, signerFromSeed } from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy, formatPolicy, type TrustPolicy } from '#shared/transparency/anchoring/policy.ts'
import { AlarmError, followLog } from '../../examples/monitor/follow.ts'
import { LogSource, UnreachableError } from '../../examples/monitor/source.ts'
import { loadState, saveState } from '../../examples/monitor/state.ts'
import { SmallLog } from '../shared/transparency/anchoring/small-log.ts'
import { vectorLog, vectorWitness } from '../shared/transparency/anchoring/vectors.ts'
import { Program } from './program.ts'

const folder = mkdtempSync(join(tmpdir(), 'monitor-'))
test.after.always(() => rmSync(folder, { recursive: true }))
const PREFIX = '/v1/transparency/sandbox/'

/** The public endpoints of a log, served for real; a file can be replaced and the checkpoint overridden. */
class PublicLog implements AsyncDisposable {
  log = new SmallLog(vectorLog)
  checkpoint: string | undefined
  requested: string[] = []
  readonly replaced = new Map<string, Uint8Array | number>()
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => {
      const path = (request.url ?? '').slice(PREFIX.length)
      this.requested.push(path)
      const checkpoint = Buffer.from(this.checkpoint ?? this.log.checkpoint())
      const file = this.replaced.get(path) ?? (path === 'checkpoint' ? checkpoint : this.log.files.get(path)) ?? 404
      if (typeof file === 'number') response.writeHead(file).end()
      else response.end(file)
    })
    this.#server.keepAliveTimeout = 120_000 // a monitor that stands still for some seconds keeps its connection
  }

  async url(): Promise<string> {
    if (!this.#server.listening) await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    // A server listening on a port has an address with one.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

let states = 0
const newState = (): string => join(folder, `${++states}.json`)

const trusted = flatPolicy([{ key: vectorLog.key }], [], 0)
const keyArgs = ['--key', formatVerifierKey(vectorLog.key)]

/** Follows the log to its newest checkpoint, as the program does with --once. Returns the size of the log. */
async function look(from: PublicLog, state: string, policy: TrustPolicy = trusted): Promise<number> {
  const after = await followLog(new LogSource(await from.url(), 'sandbox'), policy, loadState(state))
  saveState(state, after)
  return after.frontier.size
}

/** Runs the program itself with --once. */
async function run(from: PublicLog, state: string, trust: readonly string[] = keyArgs) {
  const monitor = new Program('monitor/main.ts', [
    ...['--base', await from.url(), '--env', 'sandbox', '--state', state, '--once'],
    ...trust,
  ])
  return { status: await monitor.ended(), errors: monitor.errors }
}

test('the monitor follows a growing log and reads only new entries', async (t) => {
  await using server = new PublicLog()
  const state = newState()
  for (const more of [0, 1, 254, 1, 1, 300, 0]) {
    if (more > 0) server.log.fill(more)
    server.requested = []
    t.is(await look(server, state), server.log.entries.length)
  }
  t.deepEqual(server.requested, ['checkpoint'])
  t.is(JSON.parse(readFileSync(state, 'utf8')).size, 557)
})

test('an old partial bundle that gave way to the full one is read from that', async (t) => {
  await using server = new PublicLog()
  server.log.fill(100)
  server.checkpoint = server.log.checkpoint()
  server.log.fill(200)
  for (const path of ['tile/entries/000.p/100', 'tile/0/000.p/100']) server.replaced.set(path, 404)
  t.is(await look(server, newState()), 100)
})

test('the monitor raises an alarm with both notes when a log forgets entries or signs another history', async (t) => {
  await using server = new PublicLog()
  const state = newState()
  server.log.fill(300)
  t.deepEqual(await run(server, state), { status: 0, errors: '' })
  const remembered = readFileSync(state, 'utf8')
  const honest = server.log.checkpoint()

  const shorter = new SmallLog(vectorLog)
  shorter.fill(299)
  server.log = shorter
  const back = await run(server, state)
  t.is(back.status, 1)
  t.regex(back.errors, /^ALARM: the log went back from 300 to 299/)
  t.true(back.errors.includes(honest) && back.errors.includes(shorter.checkpoint()))

  const other = new SmallLog(vectorLog)
  other.append(shorter.entries.slice(5, 6))
  other.fill(350)
  server.log = other
  t.is((await run(server, state)).status, 1)
  t.is(readFileSync(state, 'utf8'), remembered)
})

test('entries, tiles or roots that do not fit together raise the alarm', async (t) => {
  for (const change of [
    (server: PublicLog) => server.replaced.set('tile/0/001.p/44', Buffer.alloc(44 * 32)),
    (server: PublicLog) => server.replaced.set('tile/0/000', Buffer.alloc(256 * 32)),
    (server: PublicLog) => server.replaced.set('tile/entries/000', Buffer.alloc(10)),
    (server: PublicLog) => {
      server.checkpoint = signCheckpoint({ origin: vectorLog.key.name, size: 300, root: Buffer.alloc(32) }, vectorLog)
    },
    (server: PublicLog) => {
      const stranger = signerFromSeed(vectorLog.key.name, LOG_KEY, Buffer.alloc(32, 4))
      server.checkpoint = signCheckpoint({ origin: vectorLog.key.name, size: 300, root: server.log.root }, stranger)
    },
    (server: PublicLog) => server.replaced.set('checkpoint', Buffer.from('garbage')),
  ]) {
    await using server = new PublicLog()
    server.log.fill(300)
    change(server)
    await t.throwsAsync(look(server, newState()), { instanceOf: AlarmError })
  }
})

test('an entry that contains more than a hash raises the alarm', async (t) => {
  await using server = new PublicLog()
  server.log.append([Buffer.from('{"borrowerGstin":"27AAACB1234C1ZF"}')])
  await t.throwsAsync(look(server, newState()), { instanceOf: AlarmError, message: /not a log entry/ })
})

test('a log that cannot be read is not accused', async (t) => {
  await using server = new PublicLog()
  server.log.fill(3)
  for (const path of ['checkpoint', 'tile/entries/000.p/3', 'tile/0/000.p/3'])
    for (const status of [404, 500, 302]) {
      server.replaced.clear()
      server.replaced.set(path, status)
      await t.throwsAsync(look(server, newState()), { instanceOf: UnreachableError }, `${path} ${status}`)
    }
  t.is((await run(server, newState())).status, 3)
})

test('a policy with witnesses demands their cosignatures', async (t) => {
  await using server = new PublicLog()
  server.log.fill(3)
  const policy = join(folder, 'policy')
  writeFileSync(policy, formatPolicy(flatPolicy([{ key: vectorLog.key }], [{ key: vectorWitness.key }], 1)))
  const bare = await run(server, newState(), ['--policy', policy])
  t.is(bare.status, 1)
  t.regex(bare.errors, /quorum/)
  server.checkpoint = server.log.checkpoint([vectorWitness])
  t.is((await run(server, newState(), ['--policy', policy])).status, 0)
})

test('a damaged state is not trusted', async (t) => {
  await using server = new PublicLog()
  server.log.fill(3)
  const state = newState()
  t.is(await look(server, state), 3)
  const good = readFileSync(state, 'utf8')
  for (const bad of ['{}', good.replace('"size":3', '"size":2'), good.replace(/"levels":\["..../, '"levels":["AAAA')]) {
    writeFileSync(state, bad)
    t.throws(() => loadState(state))
  }
  t.is((await run(server, state)).status, 2)
})

test('the monitor keeps watching until it is stopped', async (t) => {
  await using server = new PublicLog()
  server.log.fill(2)
  const args = ['--base', await server.url(), '--env', 'sandbox', '--state', newState(), '--interval', '0.05']
  await using monitor = new Program('monitor/main.ts', [...args, ...keyArgs], '--import=tsx')
  await monitor.line(/consistent at 2 entries, 2 new/)
  server.log.fill(1)
  await monitor.line(/consistent at 3 entries, 1 new/)
  t.is(await monitor.kill('SIGTERM'), 0)
})
