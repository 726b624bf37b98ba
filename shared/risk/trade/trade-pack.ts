import { canonicalize } from '../../canonical/jcs.ts'
import type { TradeCheck } from './checks.ts'

export interface TradeFinding {
  verificationId: string
  subjectKind: string
  results: TradeCheck[]
  eventType: string
  timestamp: string
  anchor: { network: string; txId: string; payloadSha256: string }
}

export interface TradeDocument {
  documentId: string
  type: string
  sha256: string
  sizeBytes: number | null
  mediaType: string | null
  tier: string
  timestamp: string
  anchor: { txId: string }
}

/** A canonical in-toto statement over the documents. */
export function packStatement(pack: {
  packId: string
  issuedAt: string
  publicUrl: string
  documents: readonly TradeDocument[]
  findings: readonly TradeFinding[]
  chain: TradeCheck | null
}): Buffer {
  const { packId, issuedAt, publicUrl, documents, findings, chain } = pack
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: documents.map(({ documentId, sha256 }) => ({ name: documentId, digest: { sha256 } })),
    predicateType: `${publicUrl}/predicates/trade-pack/v1`,
    predicate: {
      packId,
      documents: documents.map(({ documentId, type, tier, anchor: { txId } }) => ({ documentId, type, tier, txId })),
      checks: [
        ...findings.map(({ verificationId, subjectKind, results, anchor: { txId } }) => ({
          verificationId,
          subjectKind,
          txId,
          results,
        })),
        ...(chain ? [{ subjectKind: 'CHAIN', results: [chain] }] : []),
      ],
      issuedAt,
    },
  }
  return Buffer.from(canonicalize(statement))
}
