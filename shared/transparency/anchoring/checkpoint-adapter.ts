/** Proves when a checkpoint existed; never receives entries. */
export interface CheckpointAdapter {
  /** Stored with the receipt, to find the adapter for later polls. */
  readonly network: string
  /** Safe to repeat. @throws UnavailableError */
  submit(checkpoint: string): Promise<CheckpointReceipt>
  /** Returns the same receipt without progress. @throws UnavailableError; AnchoringError */
  poll(receipt: CheckpointReceipt): Promise<CheckpointReceipt>
  /** The receipt is attacker-controlled. @throws AnchoringError RECEIPT_MALFORMED */
  verify(receipt: CheckpointReceipt, checkpoint: string): Promise<ReceiptResult>
}

export interface CheckpointReceipt {
  readonly network: string
  readonly state: 'SUBMITTED' | 'EXTERNAL'
  /** Base64 of the network's own format. */
  readonly proof: string
}

export type ReceiptResult =
  /** The network's record contains the checkpoint. `at` is absent if the record has no time. */
  | { readonly result: 'ATTESTED'; readonly detail: string; readonly at?: Date }
  /** Nothing contradicts the receipt, but it could not be compared with the network's record (yet). */
  | { readonly result: 'PENDING'; readonly detail: string }
  | { readonly result: 'FAILED'; readonly detail: string }

/** Rejects private addresses and limits responses. */
export type AdapterRequest = (request: {
  method: 'GET' | 'POST'
  url: string
  headers?: Readonly<Record<string, string>>
  body?: Buffer
}) => Promise<{ status: number; body: Uint8Array; truncated: boolean }>
