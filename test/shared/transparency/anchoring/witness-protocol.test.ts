import test from 'ava'
import { type Checkpoint, signCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { EMPTY_ROOT, leafHash, rootOf } from '#shared/transparency/anchoring/merkle.ts'
import { proveConsistency } from '#shared/transparency/anchoring/merkle-proof.ts'
import { signatureLine } from '#shared/transparency/anchoring/note.ts'
import { LOG_KEY, signerFromSeed, WITNESS_KEY } from '#shared/transparency/anchoring/note-key.ts'
import { formatTlogProof, parseTlogProof } from '#shared/transparency/anchoring/tlog-proof.ts'
import {
  acceptCosignatures,
  decideCosigning,
  formatAddCheckpoint,
  parseAddCheckpoint,
  type WitnessDecision,
  type WitnessedTree,
} from '#shared/transparency/anchoring/witness-protocol.ts'
import { merkleVectors, vectorLog, vectorWitness } from './vectors.ts'

const origin = vectorLog.key.name
const hashes = merkleVectors.eightLeafTree.leavesHex.map((leaf) => leafHash(Buffer.from(leaf, 'hex')))
const tree = (size: number): Checkpoint => ({ origin, size, root: rootOf(hashes.slice(0, size)) })
const read = (level: number, index: number): Uint8Array =>
  rootOf(hashes.slice(index * 2 ** level, (index + 1) * 2 ** level))
const proofOf = (from: number, to: number): Uint8Array[] => proveConsistency(from, to, read)

function decide(oldSize: number, checkpoint: Checkpoint, proof: Uint8Array[], latest?: WitnessedTree): WitnessDecision {
  const body = formatAddCheckpoint({ oldSize, proof, note: signCheckpoint(checkpoint, vectorLog) })
  return decideCosigning(
    body,
    (name) => (name === origin ? [vectorLog.key] : []),
    () => latest,
  )
}

test('the published witness request is parsed, formatted and cosigned', (t) => {
  const { request, oldSize, newSize } = merkleVectors.witnessAddCheckpoint
  const parsed = parseAddCheckpoint(request)
  t.is(parsed.oldSize, oldSize)
  t.is(formatAddCheckpoint(parsed), request)
  t.is(formatAddCheckpoint({ oldSize, proof: proofOf(3, 8), note: signCheckpoint(tree(8), vectorLog) }), request)
  const decision = decideCosigning(
    request,
    () => [vectorLog.key],
    () => tree(3),
  )
  t.is(decision.outcome === 'cosign' && decision.checkpoint.size, newSize)
})

test('every consistent step to a larger or equal size is cosigned', (t) => {
  for (let from = 0; from <= 8; from++)
    for (let to = from; to <= 8; to++)
      t.is(decide(from, tree(to), proofOf(from, to), from === 0 ? undefined : tree(from)).outcome, 'cosign')
})

test('a log that rolls back or forks is refused with the latest size', (t) => {
  const latest = tree(5)
  t.like(decide(3, tree(4), proofOf(3, 4), latest), { status: 409, size: 5 })
  t.like(decide(0, tree(8), [], latest), { status: 409, size: 5 })
  t.like(decide(5, { ...tree(5), root: EMPTY_ROOT }, [], latest), { status: 422 })
  t.like(decide(5, { ...tree(8), root: EMPTY_ROOT }, proofOf(5, 8), latest), { status: 422 })
  t.like(decide(5, tree(4), [], latest), { status: 400 })
})

test('a consistency proof is required exactly when it is needed', (t) => {
  t.like(decide(5, tree(8), [], tree(5)), { status: 422 })
  t.like(decide(0, tree(8), proofOf(3, 8)), { status: 422 })
  t.like(decide(8, tree(8), [EMPTY_ROOT], tree(8)), { status: 422 })
  t.like(decide(0, { ...tree(0), root: hashes[0] ?? EMPTY_ROOT }, []), { status: 422 })
})

test('an unknown log is 404, a forged signature 403, malformed input 400', (t) => {
  const stranger = signerFromSeed('stranger.example/log', LOG_KEY, Buffer.alloc(32, 7))
  const known = (name: string): (typeof vectorLog.key)[] => (name === origin ? [vectorLog.key] : [])
  const answer = (body: string): unknown => {
    const decision = decideCosigning(body, known, () => undefined)
    return 'status' in decision ? decision.status : decision.outcome
  }
  const unknown = signCheckpoint({ ...tree(3), origin: stranger.key.name }, stranger)
  t.is(answer(formatAddCheckpoint({ oldSize: 0, proof: [], note: unknown })), 404)
  const impostor = signerFromSeed(origin, LOG_KEY, Buffer.alloc(32, 7))
  t.is(answer(formatAddCheckpoint({ oldSize: 0, proof: [], note: signCheckpoint(tree(3), impostor) })), 403)
  const note = signCheckpoint(tree(3), vectorLog)
  const altered = note.replace('\n3\n', '\n4\n')
  t.is(answer(formatAddCheckpoint({ oldSize: 0, proof: [], note: altered })), 403)
  for (const body of [
    '',
    note,
    `old 00\n\n${note}`,
    `old -1\n\n${note}`,
    `old 0\nnot-a-hash\n\n${note}`,
    `old 0\n${`${EMPTY_ROOT.toString()}\n`.repeat(2)}\n${note}`,
    `old 0\n${'47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'.repeat(64)}\n${note}`,
    'old 0\n\n',
    `old 0\n\n${'x'.repeat(200_000)}`,
  ])
    t.is(answer(body), 400, body.slice(0, 40))
})

test('a log accepts only cosignatures of trusted witnesses', (t) => {
  const text = merkleVectors.signedNotes.checkpoint.body
  const other = signerFromSeed('other.example/w', WITNESS_KEY, Buffer.alloc(32, 8))
  const ours = signatureLine(text, vectorWitness, 1_750_000_000)
  const answer = signatureLine(text, other, 1) + ours
  const { lines, cosignatures } = acceptCosignatures(answer, text, [vectorWitness.key])
  t.is(lines, ours)
  t.is(cosignatures[0]?.time, 1_750_000_000)
  t.throws(() => acceptCosignatures(answer, text, []), { code: 'COSIGNATURE_MISSING' })
  t.throws(() => acceptCosignatures(ours, text.replace('8', '9'), [vectorWitness.key]), {
    code: 'NOTE_SIGNATURE_INVALID',
  })
  t.throws(() => acceptCosignatures('garbage', text, [vectorWitness.key]), { code: 'NOTE_MALFORMED' })
})

test('the published offline proof is parsed and formatted', (t) => {
  const { text, leafIndex } = merkleVectors.tlogProof
  const proof = parseTlogProof(text)
  t.is(proof.index, leafIndex)
  t.is(formatTlogProof(proof), text)
  const extra = formatTlogProof({ ...proof, extra: Buffer.from('why') })
  t.deepEqual(Buffer.from(parseTlogProof(extra).extra ?? []).toString(), 'why')
  t.is(formatTlogProof(parseTlogProof(extra)), extra)
  for (const broken of [
    '',
    text.replace('@v1', '@v2'),
    text.replace('index 5', 'index 05'),
    text.replace('index 5\n', ''),
    text.replace('index 5\n', 'extra !\nindex 5\n'),
    text.replace('vBoGQ7', 'vBoGQ'),
    text.replaceAll('\n\n', '\n'),
  ])
    t.throws(() => parseTlogProof(broken), { code: 'PROOF_MALFORMED' })
})
