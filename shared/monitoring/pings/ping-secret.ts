import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { type Micros, microsOfSeconds } from '../../time.ts'
import type { SourceRule } from '../rules/source-rule.ts'

/** How far the time of a signature may lie from ours. */
const TOLERANCE: Micros = microsOfSeconds(300)
const PREFIX = 'psk_'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** A new secret: `psk_` and 32 characters. @param random bytes, each of which makes one character of 64 */
export function generatePingSecret(random: (size: number) => Buffer): string {
  return PREFIX + [...random(32)].map((byte) => LETTERS[byte % LETTERS.length]).join('')
}

/** Whether a text could be a secret of `generatePingSecret`. */
export function isPingSecret(text: string): boolean {
  return /^psk_[A-Za-z0-9_-]{32}$/.test(text)
}

/** What a ping shows of the secret. */
export interface ShownSecret {
  authorization: string | undefined
  /** `X-Ping-Signature` */
  signature: string | undefined
  method: string
  /** path and query as they were sent */
  url: string
  body: Buffer | null
}

/** Whether a ping shows a secret of its check; the one before counts for a while after a change. */
export function isAuthorised({ mode, secret, previous }: PingAuth, shown: ShownSecret, now: Micros): boolean {
  const secrets = [secret, previous && previous.until > now ? previous.secret : null].filter((one) => one !== null)
  const isRight = mode === 'bearer' ? bearerOf(shown) : signatureOf(shown, now)
  // Each is looked at, so that the time tells nothing of which it was.
  return secrets.map(isRight).includes(true)
}

function bearerOf({ authorization }: ShownSecret): (secret: string) => boolean {
  const [, token = ''] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  return (secret) => isEqual(token, secret)
}

/** `t=<unix>,v1=<hex>`: HMAC-SHA256 of `t.METHOD.path?query.sha256(body)`. */
function signatureOf({ signature, method, url, body }: ShownSecret, now: Micros): (secret: string) => boolean {
  const [, t, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature ?? '') ?? []
  if (t === undefined || given === undefined || Math.abs(microsOfSeconds(Number(t)) - now) > TOLERANCE) {
    return () => false
  }
  const bodyHash = createHash('sha256')
    .update(body ?? '')
    .digest('hex')
  const signed = `${t}.${method}.${url}.${bodyHash}`
  return (secret) => isEqual(given, createHmac('sha256', secret).update(signed).digest('hex'))
}

function isEqual(given: string, right: string): boolean {
  const [a, b] = [given, right].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}

/** Requirements that a ping must meet before it is accepted (docs/spec/alerting.md#sources). */
export interface PingAuthRules {
  /** where a ping names its source; null where no source is asked for */
  by: SourceRule['by'] | null
  /** null where no secret is asked for */
  auth: PingAuth | null
}

export interface PingAuth {
  mode: 'bearer' | 'hmac'
  /** null where what is stored cannot be opened: then no ping shows it */
  secret: string | null
  /** the one before, while it still counts */
  previous: { secret: string; until: Micros } | null
}
