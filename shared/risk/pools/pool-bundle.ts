import { createBundle } from '../../transparency/provenance/bagit.ts'
import { POOL_CUT, POOL_PROOF, POOL_RECEIVABLES } from '../../transparency/provenance/verify-pool-bundle.ts'
import type { Files } from '../../transparency/provenance/zip.ts'

/** What the bag of a cut is made of. */
export interface CutExport {
  cutId: string
  name: string
  /** ISO 8601 UTC, of the cut */
  timestamp: string
  /** the anchored object, JSON text */
  cut: string
  /** c2sp.org/tlog-proof@v1 of the cut */
  proof: string
  /** evidence objects in pool order, one a line */
  receivables: Buffer
  tape: Buffer
  /** JSON texts */
  stratification: string
  replines: string
}

/** The files of a cut's bag. Equal cuts give equal files. */
export function cutBundle(given: CutExport): Files {
  const payload = new Map([
    [POOL_CUT, Buffer.from(given.cut)],
    [POOL_PROOF, Buffer.from(given.proof)],
    [POOL_RECEIVABLES, given.receivables],
    ['tape.csv', given.tape],
    ['stratification.json', Buffer.from(given.stratification)],
    ['replines.json', Buffer.from(given.replines)],
  ])
  return createBundle(payload, [
    ['External-Identifier', given.cutId],
    ['External-Description', given.name],
    ['Bagging-Date', given.timestamp.slice(0, 10)],
  ])
}
