import type { AnchorState } from '../../../transparency/anchoring/leaf.ts'

/** Inclusion of a pack's hash in the public log. Members are null until a checkpoint covers it. */
export interface PackProof {
  state: AnchorState
  /** index of the entry in the log, from 0 */
  index: number | null
  treeSize: number | null
  /** the signed note, verbatim */
  checkpoint: string | null
  /** c2sp.org/tlog-proof@v1 */
  tlogProof: string | null
}

/** Returns the address of the page that verifies a pack without a sign-in. */
export function verificationUrl(publicUrl: string, txId: string): string {
  return `${publicUrl}/verify?txId=${txId}`
}

/** Returns the commands that verify a pack independently of the page or document that shows them. */
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
