import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { cosignedMessage } from '#shared/transparency/anchoring/cosignature.ts'
import { parseNote } from '#shared/transparency/anchoring/note.ts'
import { formatVerifierKey, type NoteKey } from '#shared/transparency/anchoring/note-key.ts'
import { SmallLog } from './small-log.ts'
import { vectorLog, vectorWitness } from './vectors.ts'

const folder = mkdtempSync(join(tmpdir(), 'interoperability-'))
test.after.always(() => rmSync(folder, { recursive: true }))

/** Logs a missing program and passes the test. */
function isMissing(t: ExecutionContext, program: string, ...args: string[]): boolean {
  if (spawnSync(program, args).status === 0) return false
  t.log(`NOT CHECKED: ${program} is not on this machine, so no independent implementation verified our output`)
  t.pass()
  return true
}

function opensslAccepts(key: NoteKey, message: string, signature: Uint8Array): boolean {
  writeFileSync(join(folder, 'key.der'), key.keyObject.export({ format: 'der', type: 'spki' }))
  writeFileSync(join(folder, 'message'), message)
  writeFileSync(join(folder, 'signature'), signature)
  const args = '-verify -pubin -keyform DER -inkey key.der -rawin -in message -sigfile signature'.split(' ')
  return spawnSync('openssl', ['pkeyutl', ...args], { cwd: folder }).status === 0
}

test('OpenSSL verifies the signatures of a checkpoint and a witness', (t) => {
  if (isMissing(t, 'openssl', 'version')) return
  const log = new SmallLog(vectorLog)
  log.fill(5)
  const { text, signatures } = parseNote(log.checkpoint([vectorWitness], 1_795_000_000))
  const [ours = new Uint8Array(), witness = new Uint8Array()] = signatures.map(({ signature }) => signature)
  t.true(opensslAccepts(vectorLog.key, text, ours))
  t.false(opensslAccepts(vectorLog.key, text.replace('5', '6'), ours))
  const signed = witness.subarray(8)
  t.true(opensslAccepts(vectorWitness.key, cosignedMessage(text, 1_795_000_000), signed))
  t.false(opensslAccepts(vectorWitness.key, cosignedMessage(text, 1_795_000_001), signed))
})

const DEBIAN_GOPATH = '/usr/share/gocode'

test("Go's sumdb packages accept checkpoints, inclusion and consistency proofs", (t) => {
  if (isMissing(t, 'go', 'version')) return
  if (!existsSync(join(DEBIAN_GOPATH, 'src/golang.org/x/mod/sumdb/note'))) {
    t.log('NOT CHECKED: golang.org/x/mod is not installed (Debian package golang-golang-x-mod-dev)')
    t.pass()
    return
  }
  const program = join(folder, 'go-verifier')
  const source = new URL('go-verifier/main.go', import.meta.url).pathname
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GOPATH: DEBIAN_GOPATH,
    GO111MODULE: 'off',
    GOCACHE: join(folder, 'c'),
  }
  const built = spawnSync('go', ['build', '-o', program, source], { encoding: 'utf8', env })
  t.is(built.stderr, '')
  const log = new SmallLog(vectorLog)
  for (const [from, to] of [
    [1, 2],
    [5, 300],
    [300, 513],
    [513, 70_000],
  ] as const) {
    log.fill(from - log.size)
    const old = log.checkpoint()
    log.fill(to - log.size)
    const input = {
      vkey: formatVerifierKey(vectorLog.key),
      old,
      new: log.checkpoint([vectorWitness]),
      consistency: log.consistency(from).map(base64),
      inclusions: [0, Math.floor(to / 2), to - 1].map((index) => ({
        index,
        entry: base64(log.entries[index] ?? new Uint8Array()),
        proof: log.inclusion(index).map(base64),
      })),
    }
    const run = (value: unknown): string => {
      const { stdout, stderr } = spawnSync(program, { input: JSON.stringify(value), encoding: 'utf8' })
      return stdout + stderr
    }
    t.is(run(input), 'ok\n')
    t.regex(run({ ...input, old: input.new, new: input.old }), /^consistency/)
    t.regex(run({ ...input, inclusions: [{ ...input.inclusions[0], index: 1 }] }), /^inclusion of 1/)
    t.regex(run({ ...input, new: input.new.replace(`\n${to}\n`, `\n${to + 1}\n`) }), /^new checkpoint/)
  }
})

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
