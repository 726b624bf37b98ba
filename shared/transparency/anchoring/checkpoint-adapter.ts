/**
 * A network outside the operator's control that can say when a checkpoint existed. It is given checkpoints only,
 * never entries, and on a schedule.
 */
export interface CheckpointAdapter {
  /** Stored with the receipt, so that the right adapter is asked later. */
  readonly network: string
  /**
   * Hands the checkpoint over.
   * @param checkpoint the text of the note that the log signed (three lines), without signatures
   * @throws UnavailableError when the network did not take it; safe to repeat
   */
  submit(checkpoint: string): Promise<CheckpointReceipt>
  /**
   * Asks whether the network has come further with it.
   * @returns the receipt to store from now on: the same one when nothing happened
   * @throws UnavailableError when the network could not be asked; AnchoringError RECEIPT_MALFORMED
   */
  poll(receipt: CheckpointReceipt): Promise<CheckpointReceipt>
  /**
   * Checks a receipt, which may come from an attacker, against the checkpoint and the network's own record.
   * @throws AnchoringError RECEIPT_MALFORMED
   */
  verify(receipt: CheckpointReceipt, checkpoint: string): Promise<ReceiptResult>
}

/** What an adapter gives back, stored as it is; `state` EXTERNAL once the network attests the checkpoint. */
export interface CheckpointReceipt {
  readonly network: string
  readonly state: 'SUBMITTED' | 'EXTERNAL'
  /** Base64 of the network's own format. */
  readonly proof: string
}

export type ReceiptResult =
  /** The network's own record holds it. `at` only when the record tells the time. */
  | { readonly verdict: 'ATTESTED'; readonly detail: string; readonly at?: Date }
  /** Nothing speaks against it, and the network's record was not, or could not yet be, compared. */
  | { readonly verdict: 'PENDING'; readonly detail: string }
  | { readonly verdict: 'FAILED'; readonly detail: string }

/** The part of an HTTP client that adapters need; the product's own refuses private addresses and bounds answers. */
export type AdapterRequest = (request: {
  method: 'GET' | 'POST'
  url: string
  headers?: Readonly<Record<string, string>>
  body?: Buffer
}) => Promise<{ status: number; body: Uint8Array; truncated: boolean }>
