import { decodePingBatch, encodePingBatch, isPingQueue, MalformedBatchError } from '../../contracts/ping-batch.ts'

export interface DeadLetteredMessage {
  /** the work queue that the message was taken from */
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
 * Returns the message without its failure history. A batch of pings becomes the first message of a new stream, because
 * its stream position counts as applied already. Returns null if a batch of pings cannot be decoded.
 */
export function toReplayed(
  message: DeadLetteredMessage,
  stream: string,
): { body: Buffer; headers: Record<string, unknown> } | null {
  const headers = typeof message.headers.v === 'number' ? { v: message.headers.v } : {}
  if (!isPingQueue(message.queue)) return { body: message.body, headers }
  try {
    return { body: encodePingBatch({ ...decodePingBatch(message.body), stream, seq: 1 }), headers }
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
