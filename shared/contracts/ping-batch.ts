import type { Micros } from '../time.ts'
import { isUuid } from '../uuid.ts'
import type { MailText } from './mail-text.ts'
import type { SignalKind } from './signal-kind.ts'

/**
 * The body is JSON, version 1:
 *
 *     {"v": 1, "stream": uuid, "seq": 17, "pings": [[checkId, kind, exitStatus, receivedAt, scheme, remoteAddr,
 *      method, ua, rid, body, mail?, source?], ...]}
 *
 * `stream` names the publishing channel and `seq` counts its messages to this shard, so that a message delivered
 * twice is recognised by one comparison (ping_streams). Pings are arrays, because their names would be most of the
 * bytes. `body` is base64 or null; an e-mail ping carries its whole message, or the id of the row that holds it.
 *
 * Readers take what they know from the front and ignore what follows. `mail`, `[[subject, ...pieces] | null, id | null, subject?]`,
 * was added at the end: a reader from before it records an e-mail ping as a success without its body, so the workers
 * are deployed before the SMTP listener. A reader that knows it reads messages without it as before. `source`, the name of
 * the machine that reports, was added after it, with null for `mail` where there is none.
 */
export const PING_BATCH_VERSION = 1

/** A ping as received, not classified yet. */
export interface AcceptedPing {
  checkId: number
  kind: SignalKind
  exitStatus: number | null
  receivedAt: Micros
  scheme: string
  remoteAddr: string | null
  method: string
  ua: string
  rid: string | null
  /** truncated at the limit; null if absent; a mail is complete */
  body: Buffer | null
  mail?: AcceptedMail
  /** the machine that reports (docs/spec/alerting.md#sources); absent without a name */
  source?: string
}

export interface AcceptedMail {
  /** the text for keyword search; null if it is too large for a message and stored with the body */
  text: MailText | null
  /** the row of ping_bodies with the whole message; null if `body` contains it */
  storedBody: string | null
  /** beginning of the subject; only if `text` is null */
  subject?: string
}

export interface PingBatch {
  stream: string
  seq: number
  pings: AcceptedPing[]
}

/** Queues of generation g have numbers from 64 * g (ping-generations.ts); the first generation has plain numbers. */
const NUMBERS_OF_A_GENERATION = 64

export function pingQueue(number: number): string {
  const generation = Math.floor(number / NUMBERS_OF_A_GENERATION)
  const shard = number % NUMBERS_OF_A_GENERATION
  return generation === 0 ? `pings.${shard}` : `pings.${generation}.${shard}`
}

/** Returns true for the name of a ping queue of any generation. */
export function isPingQueue(name: string): boolean {
  return /^pings\.(\d+\.)?\d+$/.test(name)
}

export function shardOf(checkId: number, shards: number): number {
  return checkId % shards
}

export function encodePingBatch(batch: PingBatch): Buffer {
  const pings = batch.pings.map(encodePing)
  return Buffer.from(JSON.stringify({ v: PING_BATCH_VERSION, stream: batch.stream, seq: batch.seq, pings }))
}

function encodePing(ping: AcceptedPing): unknown[] {
  const fields: unknown[] = [
    ping.checkId,
    ping.kind,
    ping.exitStatus,
    ping.receivedAt,
    ping.scheme,
    ping.remoteAddr,
    ping.method,
    ping.ua,
    ping.rid,
    ping.body === null ? null : ping.body.toString('base64'),
  ]
  if (ping.mail) {
    const { text, storedBody, subject } = ping.mail
    const rest = subject === undefined ? [] : [subject]
    fields.push([text === null ? null : [text.subject, ...text.pieces], storedBody, ...rest])
  }
  if (ping.source !== undefined) fields.push(...(ping.mail ? [] : [null]), ping.source)
  return fields
}

export class MalformedBatchError extends Error {
  readonly code: 'NOT_JSON' | 'UNKNOWN_VERSION' | 'WRONG_SHAPE'
  constructor(code: 'NOT_JSON' | 'UNKNOWN_VERSION' | 'WRONG_SHAPE') {
    super(code)
    this.code = code
  }
}

const KINDS: ReadonlySet<unknown> = new Set<SignalKind>(['success', 'start', 'fail', 'log'])

/** Uses no schema library, because it runs for every ping. @throws MalformedBatchError */
export function decodePingBatch(content: Buffer): PingBatch {
  let message: unknown
  try {
    message = JSON.parse(content.toString('utf8'))
  } catch {
    throw new MalformedBatchError('NOT_JSON')
  }
  if (typeof message !== 'object' || message === null || !('v' in message)) throw new MalformedBatchError('WRONG_SHAPE')
  if (message.v !== PING_BATCH_VERSION) throw new MalformedBatchError('UNKNOWN_VERSION')
  if (!('stream' in message && 'seq' in message && 'pings' in message)) throw new MalformedBatchError('WRONG_SHAPE')
  const { stream, seq, pings } = message
  if (typeof stream !== 'string' || !isUuid(stream) || !isCount(seq) || !Array.isArray(pings)) {
    throw new MalformedBatchError('WRONG_SHAPE')
  }
  return { stream, seq, pings: pings.map(decodePing) }
}

function decodePing(fields: unknown): AcceptedPing {
  if (!Array.isArray(fields) || fields.length < 10) throw new MalformedBatchError('WRONG_SHAPE')
  const [checkId, kind, exitStatus, receivedAt, scheme, remoteAddr, method, ua, rid, body, mail, source] = fields
  if (
    !isCount(checkId) ||
    !isKind(kind) ||
    !(exitStatus === null || isCount(exitStatus)) ||
    !isCount(receivedAt) ||
    typeof scheme !== 'string' ||
    !isTextOrNull(remoteAddr) ||
    typeof method !== 'string' ||
    typeof ua !== 'string' ||
    !(rid === null || (typeof rid === 'string' && isUuid(rid))) ||
    !isTextOrNull(body)
  ) {
    throw new MalformedBatchError('WRONG_SHAPE')
  }
  return {
    checkId,
    kind,
    exitStatus,
    receivedAt,
    scheme,
    remoteAddr,
    method,
    ua,
    rid,
    body: body === null ? null : Buffer.from(body, 'base64'),
    ...(mail === undefined || mail === null ? null : { mail: decodeMail(mail) }),
    ...(typeof source === 'string' ? { source } : null),
  }
}

function decodeMail(fields: unknown): AcceptedMail {
  if (!Array.isArray(fields) || fields.length < 2) throw new MalformedBatchError('WRONG_SHAPE')
  const [text, storedBody, shortSubject] = fields
  if (!(storedBody === null || (typeof storedBody === 'string' && isUuid(storedBody)))) {
    throw new MalformedBatchError('WRONG_SHAPE')
  }
  if (text === null) return { text, storedBody, ...(typeof shortSubject === 'string' && { subject: shortSubject }) }
  if (!Array.isArray(text) || !text.every((piece) => typeof piece === 'string')) {
    throw new MalformedBatchError('WRONG_SHAPE')
  }
  const [subject = '', ...pieces] = text
  return { text: { subject, pieces }, storedBody }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isKind(value: unknown): value is SignalKind {
  return KINDS.has(value)
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}
