import { decodePingBatch, encodePingBatch, MalformedBatchError } from '../../contracts/ping-batch.ts'

/** A message that was given up, as its queue holds it. */
export interface DeadLetteredMessage {
  /** the queue it could not be handled from */
  queue: string
  messageId: string
  type: string
  headers: Readonly<Record<string, unknown>>
  body: Buffer
}

/** Why a message lies here, without anything of its content. */
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
    // The broker itself says why only when it gave up: after the delivery limit.
    reason: textOr(headers['x-signalbox-reason'], textOr(headers['x-first-death-reason'], 'unknown')),
    failures: typeof headers['x-signalbox-failures'] === 'number' ? headers['x-signalbox-failures'] : null,
    firstError: textOrNull(headers['x-signalbox-first-error']),
    lastError: textOrNull(headers['x-signalbox-last-error']),
    bytes: body.length,
  }
}

/**
 * What is published to try a message again: it starts anew, without the history of its failures. A batch of pings
 * comes as the first of a new stream, because the number it had in the old one has been passed.
 * @param stream a new uuid
 * @returns null when it can never be handled: the body is no batch of pings
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
