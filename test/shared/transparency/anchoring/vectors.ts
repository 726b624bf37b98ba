import { readFileSync } from 'node:fs'
import { LOG_KEY, type NoteSigner, signerFromSeed, WITNESS_KEY } from '#shared/transparency/anchoring/note-key.ts'

interface MerkleVectors {
  signedNotes: {
    c2spPublishedExample: { vkey: string; note: string }
    checkpoint: {
      origin: string
      logSeedHex: string
      logVkey: string
      witnessSeedHex: string
      witnessVkey: string
      body: string
      cosignedMessage: string
      note: string
    }
    invalid: { why: string; note: string }[]
  }
  eightLeafTree: { leavesHex: string[] }
  tlogProof: { leafIndex: number; treeSize: number; text: string }
  witnessAddCheckpoint: { request: string; oldSize: number; newSize: number }
}

interface AnchoredVector {
  objectWithoutAnchor: Record<string, unknown>
  canonical: string
  payloadSha256: string
  logEntry: string
  txId: string
  anchor: { network: string; txId: string; payloadSha256: string; note?: string }
  delivered: Record<string, unknown>
  deliveredCanonical: string
}

export const merkleVectors: MerkleVectors = JSON.parse(
  readFileSync(new URL('../../../vectors/merkle.json', import.meta.url), 'utf8'),
)
export const anchorVectors: { pack: AnchoredVector; webhook: AnchoredVector } = JSON.parse(
  readFileSync(new URL('../../../vectors/pack-anchor.json', import.meta.url), 'utf8'),
)

/** The published test log and witness of `merkle.json`. */
export const vectorLog: NoteSigner = signerFromSeed(
  merkleVectors.signedNotes.checkpoint.origin,
  LOG_KEY,
  Buffer.from(merkleVectors.signedNotes.checkpoint.logSeedHex, 'hex'),
)
export const vectorWitness: NoteSigner = signerFromSeed(
  'witness.example.test/w1',
  WITNESS_KEY,
  Buffer.from(merkleVectors.signedNotes.checkpoint.witnessSeedHex, 'hex'),
)
