import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { formatVerifierKey, LOG_KEY, signerFromSeed } from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy, formatPolicy } from '#shared/transparency/anchoring/policy.ts'
import { verifyCommand } from '#shared/transparency/anchoring/verify-cli.ts'
import { SmallLog } from './small-log.ts'
import { anchorVectors, vectorLog, vectorWitness } from './vectors.ts'

const { pack, webhook } = anchorVectors
const folder = mkdtempSync(join(tmpdir(), 'verify-'))
test.after.always(() => rmSync(folder, { recursive: true }))

const log = new SmallLog(vectorLog)
log.append([Buffer.from(webhook.logEntry), Buffer.from(pack.logEntry)])
log.fill(9)
const key = formatVerifierKey(vectorLog.key)
const witness = formatVerifierKey(vectorWitness.key)
const answer = {
  state: 'WITNESSED',
  index: 1,
  entry: pack.logEntry,
  proof: log.inclusion(1).map((hash) => Buffer.from(hash).toString('base64')),
  checkpoint: log.checkpoint([vectorWitness]),
  tlogProof: log.tlogProof(1, [vectorWitness]),
}

function file(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const program = new URL('../../../../shared/transparency/anchoring/verify-cli.ts', import.meta.url).pathname

const plain = file('pack.json', pack.delivered)

test('a pack without a proof is PARTIAL, with the missing proofs listed', async (t) => {
  const { status, stdout } = await verifyCommand([plain])
  t.is(status, 0)
  t.regex(stdout, /^PARTIAL\n/)
  t.regex(stdout, /ok {3}payload/)
  t.regex(stdout, /inclusion +PROOF_MISSING/)
  t.is((await verifyCommand([plain, '--key', key])).status, 3)
})

test('the verify command accepts every form of a proof', async (t) => {
  for (const args of [
    [plain, '--proof', file('proof.json', answer)],
    [plain, '--proof', file('proof.txt', answer.tlogProof)],
    [file('bundle.json', { object: pack.delivered, proof: answer })],
    [file('beside.json', { object: pack.delivered, ...answer })],
    [file('text.json', { object: pack.delivered, proof: answer.tlogProof })],
  ]) {
    const { status, stdout, stderr } = await verifyCommand([...args, '--key', key, '--witness', witness])
    t.is(stderr, '')
    t.is(status, 0)
    t.regex(stdout, /^VERIFIED\n/)
  }
  const policy = file('policy', formatPolicy(flatPolicy([{ key: vectorLog.key }], [{ key: vectorWitness.key }], 1)))
  const bundle = file('b.json', { object: pack.delivered, proof: answer })
  t.is((await verifyCommand([bundle, '--policy', policy])).status, 0)
})

test('the verify command reports a changed pack as FAILED', async (t) => {
  const changed = file('changed.json', { ...pack.delivered, signalLevel: 'REVIEW' })
  const { status, stdout } = await verifyCommand([changed, '--json'])
  t.is(status, 1)
  t.like(JSON.parse(stdout), { result: 'FAILED', checks: [{ name: 'payload', code: 'PAYLOAD_HASH_MISMATCH' }] })
})

test('invalid usage and input have a separate exit status', async (t) => {
  for (const [args, message] of [
    [[], /expected one FILE/],
    [[join(folder, 'absent.json')], /ENOENT/],
    [['-', '--proof', '-'], /only one file can be -/],
    [[file('pack.pdf', '%PDF-1.7\n')], /is a PDF: verify it on the page \/verify/],
    [[file('twice.json', '{"a":1,"a":2}')], /INVALID_JSON.*appears twice/],
    [[file('deep.json', '['.repeat(100_000))], /INVALID_JSON.*nested deeper/],
    [[file('list.json', '[]')], /no JSON object/],
    [[plain, '--key', 'nonsense'], /KEY_MALFORMED/],
    [[plain, '--key', key, '--quorum', '2'], /POLICY_MALFORMED/],
    [[plain, '--proof', file('bad.json', '{"index":-1}')], /PROOF_MALFORMED/],
  ] as const) {
    const { status, stderr } = await verifyCommand(args)
    t.is(status, 2)
    t.regex(stderr, message)
  }
  t.is((await verifyCommand(['--help'])).status, 0)
})

test('the verify program prints its result and exits with its status', (t) => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['--import', 'tsx', program, ...args], { encoding: 'utf8', env: {} })
  t.like(run(plain, '--key', key), { status: 3, stderr: '' })
  const { status, stdout, stderr } = run(file('answer.json', { object: pack.delivered, proof: answer }), '--key', key)
  t.deepEqual([status, stderr], [0, ''])
  t.regex(stdout, /^VERIFIED\n[\s\S]*[^\n]\n$/)
  const input = JSON.stringify({ object: pack.delivered, proof: answer })
  const args = ['--import', 'tsx', program, '-', '--key', key]
  const piped = spawnSync(process.execPath, args, { encoding: 'utf8', env: {}, input })
  t.deepEqual([piped.stdout, piped.stderr], [stdout, ''])
})

test('the verify command marks what a sandbox logged', async (t) => {
  for (const [env, expected] of [
    ['sandbox', /^VERIFIED\nSANDBOX: NOT EVIDENCE\. .+\npayloadSha256 /],
    ['production', /^VERIFIED\npayloadSha256 /],
  ] as const) {
    const signer = signerFromSeed(`log.example/anchors/${env}`, LOG_KEY, Buffer.alloc(32, 7))
    const other = new SmallLog(signer)
    other.append([Buffer.from(pack.logEntry)])
    const proof = file(`${env}.txt`, other.tlogProof(0, []))
    const { stdout, stderr } = await verifyCommand([plain, '--proof', proof, '--key', formatVerifierKey(signer.key)])
    t.is(stderr, '')
    t.regex(stdout, expected)
  }
})
