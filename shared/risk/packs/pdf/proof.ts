import type { AnchorState } from '../../../transparency/anchoring/leaf.ts'

/** Members are null until a checkpoint covers the pack. */
export interface PackProof {
  state: AnchorState
  /** from 0 */
  index: number | null
  treeSize: number | null
  /** the signed note, verbatim */
  checkpoint: string | null
  /** c2sp.org/tlog-proof@v1 */
  tlogProof: string | null
}

/** The page needs no sign-in. */
export function verificationUrl(publicUrl: string, txId: string): string {
  return `${publicUrl}/verify?txId=${txId}`
}

/** The commands do not depend on the page or document that shows them. */
export function verificationLines(publicUrl: string, txId: string, packId: string, log: string): string[] {
  return [
    `TX=${txId}`,
    `curl -s ${publicUrl}/v1/anchors/$TX -o proof.json`,
    `curl -s ${publicUrl}/v1/transparency/${log}/policy -o policy.txt`,
    `npm run -s verify -- ${packFileName(packId)} --proof proof.json --policy policy.txt`,
  ]
}

export function packFileName(packId: string): string {
  return `pack-${packId.slice(0, 8)}.json`
}
