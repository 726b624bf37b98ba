import { hash } from 'node:crypto'
import { UnavailableError } from '../../errors.ts'
import { AnchoringError } from '../anchoring/anchoring-error.ts'
import type {
  AdapterRequest,
  CheckpointAdapter,
  CheckpointReceipt,
  ReceiptResult,
} from '../anchoring/checkpoint-adapter.ts'
import { equalBytes, parseBase64, toBase64, toHex } from '../anchoring/text.ts'
import {
  type Attestation,
  formatDetached,
  parseDetached,
  parseTimestamp,
  type Timestamp,
} from './open-timestamps-format.ts'

/** From a node or explorer that the operator trusts. */
interface BlockHeader {
  /** 32 bytes, internal byte order (as hashed, not as displayed). */
  readonly merkleRoot: Uint8Array
  readonly minedAt: Date
}

export interface OpenTimestampsOptions {
  /** Without a trailing slash, in order of preference; no other address is contacted. */
  readonly calendars: readonly string[]
  readonly request: AdapterRequest
  /** Resolves undefined for a block that does not exist. If absent, a Bitcoin attestation stays unconfirmed. */
  readonly readBlock?: (height: number) => Promise<BlockHeader | undefined>
}

const ACCEPT = { accept: 'application/vnd.opentimestamps.v1', 'content-type': 'application/octet-stream' }

/** Calendars aggregate digests into Bitcoin within hours. The checkpoint is public, so no nonce hides its digest. */
export function createOpenTimestamps({ calendars, request, readBlock }: OpenTimestampsOptions): CheckpointAdapter {
  return {
    network: 'opentimestamps',

    async submit(checkpoint) {
      const digest = digestOf(checkpoint)
      let failure: unknown
      for (const calendar of calendars) {
        try {
          const body = Buffer.from(digest)
          const answer = await request({ method: 'POST', url: `${calendar}/digest`, headers: ACCEPT, body })
          if (answer.status === 200 && !answer.truncated) return receiptOf(parseTimestamp(answer.body, digest))
          failure = new Error(`the calendar answered ${answer.status}`)
        } catch (error) {
          failure = error
        }
      }
      throw new UnavailableError('no OpenTimestamps calendar accepted the checkpoint', { cause: failure })
    },

    async poll(receipt) {
      const timestamp = timestampOf(receipt)
      if (receipt.state === 'EXTERNAL') return receipt
      let requested = 0
      let answered = 0
      let failure: unknown
      const upgrade = async (node: Timestamp): Promise<Timestamp> => {
        const branches = []
        for (const { operation, to } of node.branches) branches.push({ operation, to: await upgrade(to) })
        let grown: Timestamp = { ...node, branches }
        for (const attestation of node.attestations) {
          // A receipt may contain foreign addresses; contact only configured calendars.
          if (attestation.kind !== 'pending' || !calendars.includes(attestation.uri.replace(/\/$/, ''))) continue
          requested++
          try {
            const url = `${attestation.uri.replace(/\/$/, '')}/timestamp/${toHex(node.message)}`
            const answer = await request({ method: 'GET', url, headers: { accept: ACCEPT.accept } })
            if (answer.status === 200 || answer.status === 404) answered++
            if (answer.status === 200 && !answer.truncated)
              grown = merge(grown, attestation, parseTimestamp(answer.body, node.message))
          } catch (error) {
            failure = error
          }
        }
        return grown
      }
      const upgraded = await upgrade(timestamp)
      if (requested > 0 && answered === 0)
        throw new UnavailableError('no OpenTimestamps calendar responded', { cause: failure })
      return receiptOf(upgraded)
    },

    async verify(receipt, checkpoint) {
      const timestamp = timestampOf(receipt)
      if (!equalBytes(timestamp.message, digestOf(checkpoint)))
        return { result: 'FAILED', detail: 'the receipt is for another checkpoint' }
      const found = attestationsOf(timestamp).flatMap(({ attestation, message }) =>
        attestation.kind === 'bitcoin' ? [{ height: attestation.height, message }] : [],
      )
      if (found.length === 0) return { result: 'PENDING', detail: 'no block attests it yet' }
      if (readBlock === undefined)
        return {
          result: 'PENDING',
          detail: `the receipt names Bitcoin block ${found[0]?.height}; no block source is configured`,
        }
      return await compareBlocks(found, readBlock)
    },
  }
}

async function compareBlocks(
  found: readonly { height: number; message: Uint8Array }[],
  readBlock: NonNullable<OpenTimestampsOptions['readBlock']>,
): Promise<ReceiptResult> {
  for (const { height, message } of found) {
    const block = await readBlock(height)
    if (block !== undefined && equalBytes(block.merkleRoot, message))
      return { result: 'ATTESTED', detail: `in Bitcoin block ${height}`, at: block.minedAt }
  }
  return { result: 'FAILED', detail: `Bitcoin block ${found[0]?.height} does not contain it` }
}

function digestOf(checkpoint: string): Uint8Array {
  return hash('sha256', checkpoint, 'buffer')
}

function receiptOf(timestamp: Timestamp): CheckpointReceipt {
  const isAttested = attestationsOf(timestamp).some(({ attestation }) => attestation.kind === 'bitcoin')
  const state = isAttested ? 'EXTERNAL' : 'SUBMITTED'
  return { network: 'opentimestamps', state, proof: toBase64(formatDetached(timestamp)) }
}

function timestampOf(receipt: CheckpointReceipt): Timestamp {
  const file = receipt.proof.length > 1_000_000 ? undefined : parseBase64(receipt.proof)
  if (receipt.network !== 'opentimestamps' || file === undefined)
    throw new AnchoringError('RECEIPT_MALFORMED', 'not an OpenTimestamps receipt')
  return parseDetached(file)
}

function attestationsOf(node: Timestamp): { attestation: Attestation; message: Uint8Array }[] {
  const local = node.attestations.map((attestation) => ({ attestation, message: node.message }))
  return [...local, ...node.branches.flatMap(({ to }) => attestationsOf(to))]
}

function merge(node: Timestamp, pending: Attestation, more: Timestamp): Timestamp {
  return {
    message: node.message,
    attestations: [...node.attestations.filter((attestation) => attestation !== pending), ...more.attestations],
    branches: [...node.branches, ...more.branches],
  }
}
