import { createBundle } from '../../transparency/provenance/bagit.ts'
import { POOL_CUT, POOL_PROOF, POOL_RECEIVABLES } from '../../transparency/provenance/verify-pool-bundle.ts'
import type { Files } from '../../transparency/provenance/zip.ts'

export interface CutExport {
  cutId: string
  name: string
  /** ISO 8601 UTC */
  timestamp: string
  /** the anchored object, JSON text */
  cut: string
  /** c2sp.org/tlog-proof@v1 of the cut */
  proof: string
  /** evidence objects in pool order, one per line */
  receivables: Buffer
  tape: Buffer
  stratification: string
  replines: string
}

/** Equal cuts give equal files. */
export function cutBundle(input: CutExport): Files {
  const payload = new Map([
    [POOL_CUT, Buffer.from(input.cut)],
    [POOL_PROOF, Buffer.from(input.proof)],
    [POOL_RECEIVABLES, input.receivables],
    ['tape.csv', input.tape],
    ['stratification.json', Buffer.from(input.stratification)],
    ['replines.json', Buffer.from(input.replines)],
  ])
  return createBundle(payload, [
    ['External-Identifier', input.cutId],
    ['External-Description', input.name],
    ['Bagging-Date', input.timestamp.slice(0, 10)],
  ])
}
