import { createBundle } from '../../transparency/provenance/bagit.ts'
import type { Files } from '../../transparency/provenance/zip.ts'
import type { Committed } from '../evidence/commitment.ts'
import { csvText } from '../evidence/values.ts'
import type { TradeDocument } from './trade-pack.ts'

export interface PackExport {
  packId: string
  title: string | null
  issuedAt: string
  /** JSON text */
  bundle: string
  /** anchored objects, JSON texts */
  findings: readonly string[]
  pdf: Buffer
  documents: readonly { document: TradeDocument; metadata: readonly Committed[] }[]
}

/** Equal packs give equal files. */
export function packBundle({ packId, title, issuedAt, bundle, findings, pdf, documents }: PackExport): Files {
  const payload = new Map([
    ['bundle.json', Buffer.from(bundle)],
    ['checks.json', Buffer.from(`[${findings.join(',')}]`)],
    ['summary.pdf', pdf],
  ])
  const info: [string, string][] = [
    ['External-Identifier', packId],
    ...(title === null ? [] : [['External-Description', title] satisfies [string, string]]),
    ['Bagging-Date', issuedAt.slice(0, 10)],
  ]
  return createBundle(payload, info, new Map([['fetch-list.txt', Buffer.from(fetchList(documents))]]))
}

/** The holder must supply the documents: one line for each known value. */
function fetchList(documents: PackExport['documents']): string {
  const rows = documents.flatMap(({ document: { documentId, type, sha256, sizeBytes, mediaType }, metadata }) => [
    [documentId, 'type', type],
    [documentId, 'sha256', sha256],
    ...(sizeBytes === null ? [] : [[documentId, 'sizeBytes', sizeBytes]]),
    ...(mediaType === null ? [] : [[documentId, 'mediaType', mediaType]]),
    ...metadata.map(({ name, value }) => [documentId, `metadata.${name}`, value]),
  ])
  return csvText([['documentId', 'member', 'value'], ...rows])
}
