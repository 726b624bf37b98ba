import test from 'ava'
import { type JsonObject, type JsonValue, parseJson } from '#shared/canonical/parse-json.ts'
import { LOG_KEY, signerFromSeed, WITNESS_KEY } from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy, type TrustPolicy } from '#shared/transparency/anchoring/policy.ts'
import { type ProofBundle, parseProofBundle } from '#shared/transparency/anchoring/proof-bundle.ts'
import { type CheckName, type Verification, verifyAnchored } from '#shared/transparency/anchoring/verify.ts'
import { SmallLog } from './small-log.ts'
import { anchorVectors, vectorLog, vectorWitness } from './vectors.ts'

const { pack } = anchorVectors
const log = new SmallLog(vectorLog)
log.fill(300)
log.append([Buffer.from(pack.logEntry)])
log.fill(77)

const trust = flatPolicy([{ key: vectorLog.key }], [], 0)
const trustWitness = flatPolicy([{ key: vectorLog.key }], [{ key: vectorWitness.key }], 1)
const bundle = (changes: JsonObject = {}): ProofBundle =>
  parseProofBundle({
    state: 'WITNESSED',
    index: 300,
    entry: pack.logEntry,
    proof: log.inclusion(300).map((hash) => Buffer.from(hash).toString('base64')),
    checkpoint: log.checkpoint([vectorWitness]),
    tlogProof: null,
    ...changes,
  })

function delivered(changes: JsonObject = {}): JsonObject {
  return { ...asObject(parseJson(JSON.stringify(pack.delivered))), ...changes }
}

function asObject(value: JsonValue): JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Error('not an object')
  return value
}

function outcome(verification: Verification): [string, Partial<Record<CheckName, string>>] {
  const { checks } = verification
  return [verification.result, Object.fromEntries(checks.map(({ name, result, code }) => [name, code ?? result]))]
}

test('a pack with proof, trusted key and quorum is VERIFIED', (t) => {
  const all = { payload: 'passed', entry: 'passed', inclusion: 'passed', checkpoint: 'passed', witnesses: 'passed' }
  t.deepEqual(outcome(verifyAnchored(delivered(), bundle(), trustWitness)), ['VERIFIED', all])
  const text = parseProofBundle(log.tlogProof(300, [vectorWitness]))
  t.deepEqual(outcome(verifyAnchored(delivered(), text, trustWitness)), ['VERIFIED', all])
  const both = bundle({ tlogProof: log.tlogProof(300, [vectorWitness]), proof: null, checkpoint: null })
  t.deepEqual(outcome(verifyAnchored(delivered(), both, trustWitness)), ['VERIFIED', all])
})

test('a policy without a quorum leaves the witnesses open', (t) => {
  const [result, checks] = outcome(verifyAnchored(delivered(), bundle(), trust))
  t.is(result, 'VERIFIED')
  t.is(checks.witnesses, 'POLICY_NOT_GIVEN')
})

test('a pack without a proof is PARTIAL with recomputed hash and txId', (t) => {
  t.deepEqual(outcome(verifyAnchored(delivered(), undefined, trust)), [
    'PARTIAL',
    {
      payload: 'passed',
      entry: 'passed',
      inclusion: 'PROOF_MISSING',
      checkpoint: 'PROOF_MISSING',
      witnesses: 'PROOF_MISSING',
    },
  ])
  const pending = parseProofBundle({ state: 'PENDING', index: null, proof: null, checkpoint: null, tlogProof: null })
  t.regex(verifyAnchored(delivered(), pending).checks[2]?.detail ?? '', /still pending/)
})

test('a pack without a trusted key is PARTIAL', (t) => {
  const [result, checks] = outcome(verifyAnchored(delivered(), bundle()))
  t.is(result, 'PARTIAL')
  t.is(checks.inclusion, 'passed')
  t.is(checks.checkpoint, 'KEY_NOT_GIVEN')
})

const stranger = signerFromSeed(vectorLog.key.name, LOG_KEY, Buffer.alloc(32, 5))
const otherWitness = signerFromSeed('w.example', WITNESS_KEY, Buffer.alloc(32, 6))
const fork = new SmallLog(vectorLog)
fork.fill(378)
const hostile: readonly [string, JsonObject, ProofBundle | undefined, TrustPolicy | undefined, CheckName, string][] = [
  ['a changed value', delivered({ signalLevel: 'REVIEW' }), bundle(), trust, 'payload', 'PAYLOAD_HASH_MISMATCH'],
  ['an added member', delivered({ extra: 1 }), undefined, undefined, 'payload', 'PAYLOAD_HASH_MISMATCH'],
  ['no anchor', { packId: 'x' }, bundle(), trust, 'payload', 'ANCHOR_MISSING'],
  ['an anchor that is a list', delivered({ anchor: [] }), bundle(), trust, 'payload', 'ANCHOR_MALFORMED'],
  ['a txId in upper case', withTxId(pack.txId.toUpperCase()), bundle(), trust, 'payload', 'ANCHOR_MALFORMED'],
  ['the txId of another entry', withTxId('ab'.repeat(32)), bundle(), trust, 'entry', 'TX_ID_MISMATCH'],
  [
    'the log entry of another object',
    delivered(),
    bundle({ entry: anchorVectors.webhook.logEntry }),
    trust,
    'entry',
    'ENTRY_MISMATCH',
  ],
  [
    'an entry with another instant',
    delivered(),
    bundle({ entry: pack.logEntry.replace('10:00', '11:00') }),
    trust,
    'entry',
    'ENTRY_MISMATCH',
  ],
  ['a malformed entry', delivered(), bundle({ entry: '{}' }), trust, 'entry', 'ENTRY_MALFORMED'],
  ['another index', delivered(), bundle({ index: 299 }), trust, 'inclusion', 'INCLUSION_INVALID'],
  ['an index beyond the tree', delivered(), bundle({ index: 4_000_000 }), trust, 'inclusion', 'INCLUSION_INVALID'],
  ['an empty proof', delivered(), bundle({ proof: [] }), trust, 'inclusion', 'INCLUSION_INVALID'],
  [
    'a checkpoint of a fork',
    delivered(),
    bundle({ checkpoint: fork.checkpoint() }),
    trust,
    'inclusion',
    'INCLUSION_INVALID',
  ],
  ['a malformed checkpoint', delivered(), bundle({ checkpoint: 'x' }), trust, 'inclusion', 'CHECKPOINT_INVALID'],
  [
    'a key that did not sign',
    delivered(),
    bundle(),
    flatPolicy([{ key: stranger.key }], [], 0),
    'checkpoint',
    'CHECKPOINT_INVALID',
  ],
  [
    'a missing cosignature',
    delivered(),
    bundle({ checkpoint: log.checkpoint() }),
    trustWitness,
    'witnesses',
    'QUORUM_NOT_REACHED',
  ],
  [
    'a cosignature of a stranger',
    delivered(),
    bundle({ checkpoint: log.checkpoint([otherWitness]) }),
    trustWitness,
    'witnesses',
    'QUORUM_NOT_REACHED',
  ],
]
for (const [fault, object, proof, policy, name, code] of hostile)
  test(`a pack with ${fault} fails with ${code}`, (t) => {
    const [result, checks] = outcome(verifyAnchored(object, proof, policy))
    t.is(result, 'FAILED')
    t.is(checks[name], code)
  })

test('an object without an event requires a log entry', (t) => {
  const object: JsonObject = { id: 'x' }
  const without = verifyAnchored({ ...object, anchor: { txId: 'ab'.repeat(32), payloadSha256: 'ab' } })
  t.is(outcome(without)[1].entry, 'ENTRY_UNKNOWN')
})

for (const [fault, value] of [
  ['a number', 5],
  ['a list', []],
  ['another text', 'hello'],
  ['malformed hashes', { index: 1, proof: ['zz'], checkpoint: 'x' }],
  ['too many hashes', { index: 1, proof: Array.from({ length: 64 }, () => 'ab'.repeat(32)), checkpoint: 'x' }],
  ['a negative index', { index: -1, proof: [], checkpoint: 'x' }],
  ['a checkpoint that is a number', { index: 1, proof: [], checkpoint: 1 }],
  ['two indexes', { index: 1, tlogProof: log.tlogProof(300) }],
] as const)
  test(`a proof that is ${fault} is malformed`, (t) => {
    t.throws(() => parseProofBundle(parseJson(JSON.stringify(value))), { code: 'PROOF_MALFORMED' })
  })

function withTxId(txId: string): JsonObject {
  return delivered({ anchor: { ...pack.anchor, txId } })
}
