import test from 'ava'
import { parseJson } from '#shared/canonical/parse-json.ts'
import { CodedError, ValidationError } from '#shared/errors.ts'
import { decodeCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { decodeEntryBundle, encodeEntryBundle } from '#shared/transparency/anchoring/entry-bundle.ts'
import { decodeLogEntry } from '#shared/transparency/anchoring/leaf.ts'
import { formatVerifierKey, parseVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { flatPolicy, formatPolicy, parsePolicy } from '#shared/transparency/anchoring/policy.ts'
import { parseProofBundle } from '#shared/transparency/anchoring/proof-bundle.ts'
import { parseTilePath, tilePath } from '#shared/transparency/anchoring/tile-path.ts'
import { parseTlogProof } from '#shared/transparency/anchoring/tlog-proof.ts'
import { type Verification, verifyAnchored } from '#shared/transparency/anchoring/verify.ts'
import { decideCosigning } from '#shared/transparency/anchoring/witness-protocol.ts'
import { randomOf } from '../../../support/random.ts'
import { SmallLog } from './small-log.ts'
import { anchorVectors, merkleVectors, vectorLog, vectorWitness } from './vectors.ts'

const { note } = merkleVectors.signedNotes.checkpoint
const { pack } = anchorVectors
const keys = [vectorLog.key, vectorWitness.key]
const policy = flatPolicy([{ key: vectorLog.key }], [{ key: vectorWitness.key }], 1)
const PIECES = [
  '\n',
  '\n\n',
  ' ',
  '— ',
  '+',
  '=',
  '0',
  '-1',
  '99999999999999999999',
  '\ud800',
  '\u0000',
  '"',
  '{',
  '[',
  'é',
]
const ROUNDS = 2000

function damage(text: string, below: (limit: number) => number): string {
  let damaged = text
  for (let cuts = 1 + below(3); cuts > 0; cuts--) {
    const at = below(damaged.length + 1)
    const piece = PIECES[below(PIECES.length)] ?? ''
    damaged = damaged.slice(0, at) + (below(2) === 0 ? piece : '') + damaged.slice(at + below(4))
  }
  return damaged
}

const bundle = encodeEntryBundle([Buffer.from(pack.logEntry), Buffer.from('x')])
const readers: readonly [string, string, (text: string) => unknown][] = [
  ['checkpoint', note, (text) => decodeCheckpoint(text, keys)],
  ['tlog-proof', merkleVectors.tlogProof.text, parseTlogProof],
  ['key', formatVerifierKey(vectorLog.key), parseVerifierKey],
  ['policy', formatPolicy(policy), parsePolicy],
  ['log entry', pack.logEntry, (text) => decodeLogEntry(Buffer.from(text))],
  ['entry bundle', Buffer.from(bundle).toString('latin1'), (text) => decodeEntryBundle(Buffer.from(text, 'latin1'), 2)],
  [
    'witness request',
    merkleVectors.witnessAddCheckpoint.request,
    (text) =>
      decideCosigning(
        text,
        () => keys,
        () => undefined,
      ),
  ],
  [
    'tile path',
    'tile/0/x001/x234/067.p/12',
    (text) => {
      const id = parseTilePath(text)
      if (id !== undefined && tilePath(id) !== text) throw new Error('a tile has two paths')
    },
  ],
]
for (const [format, text, read] of readers)
  test(`a damaged ${format} gives a coded error or a value`, (t) => {
    const below = randomOf(text.length).int
    for (let round = 0; round < ROUNDS; round++) {
      const damaged = damage(text, below)
      try {
        read(damaged)
      } catch (error) {
        if (!(error instanceof CodedError)) t.fail(`${JSON.stringify(damaged)}: ${String(error)}`)
      }
    }
    t.notThrows(() => read(text))
  })

test('a checkpoint with a damaged text or log signature is never accepted', (t) => {
  const below = randomOf(8).int
  const end = note.indexOf('— witness')
  for (let round = 0; round < ROUNDS; round++) {
    const damaged = damage(note.slice(0, end), below)
    if (damaged !== note.slice(0, end))
      t.throws(() => decodeCheckpoint(damaged, keys), undefined, JSON.stringify(damaged))
  }
})

test('a damaged pack or proof never verifies as another pack', (t) => {
  const below = randomOf(9).int
  const log = new SmallLog(vectorLog)
  log.fill(4)
  log.append([Buffer.from(pack.logEntry)])
  log.fill(4)
  const text = JSON.stringify(pack.delivered)
  const proof = JSON.stringify({ entry: pack.logEntry, tlogProof: log.tlogProof(4, [vectorWitness]) })
  const verify = (object: string, beside: string): Verification => {
    // A text that is not an object is refused like other malformed input.
    const value = parseJson(object)
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new ValidationError('not an object')
    return verifyAnchored(value, parseProofBundle(parseJson(beside)), policy)
  }
  t.is(verify(text, proof).result, 'VERIFIED')
  for (let round = 0; round < ROUNDS; round++) {
    try {
      const verification = round % 2 === 0 ? verify(damage(text, below), proof) : verify(text, damage(proof, below))
      // Damage to white space or to informative members changes nothing.
      if (verification.result === 'VERIFIED')
        t.like(verification, { payloadSha256: pack.payloadSha256, txId: pack.txId })
    } catch (error) {
      if (!(error instanceof CodedError)) t.fail(String(error))
    }
  }
})
