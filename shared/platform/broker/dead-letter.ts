import { decodePingBatch, encodePingBatch, MalformedBatchError } from '../../contracts/ping-batch.ts'

export interface DeadLetteredMessage {
  queue: string
  messageId: string
  type: string
  headers: Readonly<Record<string, unknown>>
  body: Buffer
}

export interface DeadLetterSummary {
  messageId: string
  type: string
  reason: string
  failures: number | null
  firstError: string | null
  lastError: string | null
  bytes: number
}

export function summarize({ messageId, type, headers, body }: DeadLetteredMessage): DeadLetterSummary {
  return {
    messageId,
    type,
    // The broker adds a reason only when it dead-letters a message itself, after the delivery limit.
    reason: textOr(headers['x-signalbox-reason'], textOr(headers['x-first-death-reason'], 'unknown')),
    failures: typeof headers['x-signalbox-failures'] === 'number' ? headers['x-signalbox-failures'] : null,
    firstError: textOrNull(headers['x-signalbox-first-error']),
    lastError: textOrNull(headers['x-signalbox-last-error']),
    bytes: body.length,
  }
}

/**
 * Removes the failure history. A batch of pings becomes the first of a new stream, because its sequence number has
 * passed. Returns null if the body is not a batch of pings.
 */
export function revived(
  letter: DeadLetteredMessage,
  stream: string,
): { body: Buffer; headers: Record<string, unknown> } | null {
  const headers = typeof letter.headers.v === 'number' ? { v: letter.headers.v } : {}
  if (!/^pings\.\d+$/.test(letter.queue)) return { body: letter.body, headers }
  try {
    return { body: encodePingBatch({ ...decodePingBatch(letter.body), stream, seq: 1 }), headers }
  } catch (error) {
    if (error instanceof MalformedBatchError) return null
    throw error
  }
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
