import type { AnchorState } from '../../../transparency/anchoring/leaf.ts'

/** Where a pack's hash stands in the public log. Null members: no checkpoint covers it yet. */
export interface PackProof {
  state: AnchorState
  /** place of the entry in the log, from 0 */
  index: number | null
  treeSize: number | null
  /** the signed note, its lines as they are */
  checkpoint: string | null
  /** c2sp.org/tlog-proof@v1 */
  tlogProof: string | null
}

/** The page on which anybody checks a pack; no sign-in. */
export function verificationUrl(publicUrl: string, txId: string): string {
  return `${publicUrl}/verify?txId=${txId}`
}

/**
 * The four lines that verify a pack without trusting the page or document they stand on: the pack as received or
 * detached from its PDF, its proof, the keys to trust, and our offline verifier.
 * @param log `sandbox` or `production`
 */
export function verificationLines(publicUrl: string, txId: string, packId: string, log: string): string[] {
  return [
    `TX=${txId}`,
    `curl -s ${publicUrl}/v1/anchors/$TX -o proof.json`,
    `curl -s ${publicUrl}/v1/transparency/${log}/policy -o policy.txt`,
    `npm run -s verify -- ${packFileName(packId)} --proof proof.json --policy policy.txt`,
  ]
}

/** What the pack's JSON is called where it is attached or downloaded. */
export function packFileName(packId: string): string {
  return `pack-${packId.slice(0, 8)}.json`
}
