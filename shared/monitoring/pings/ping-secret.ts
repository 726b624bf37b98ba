import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { type Micros, microsOfSeconds } from '../../time.ts'
import type { SourceRule } from '../rules/source-rule.ts'

/** Maximum difference between a signature's time and the present. */
const TOLERANCE: Micros = microsOfSeconds(300)
const PREFIX = 'psk_'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** `psk_` and 32 characters; each random byte selects one of 64. */
export function generatePingSecret(random: (size: number) => Buffer): string {
  return PREFIX + [...random(32)].map((byte) => LETTERS[byte % LETTERS.length]).join('')
}

export function isPingSecret(text: string): boolean {
  return /^psk_[A-Za-z0-9_-]{32}$/.test(text)
}

export interface ShownSecret {
  authorization: string | undefined
  /** `X-Ping-Signature` */
  signature: string | undefined
  method: string
  /** path and query, unchanged */
  url: string
  body: Buffer | null
}

/** Accepts the previous secret during the overlap. */
export function isAuthorised({ mode, secret, previous }: PingAuth, shown: ShownSecret, now: Micros): boolean {
  const secrets = [secret, previous && previous.until > now ? previous.secret : null].filter((one) => one !== null)
  const isRight = mode === 'bearer' ? bearerOf(shown) : signatureOf(shown, now)
  // All secrets are compared, so that the time does not reveal which one matched.
  return secrets.map(isRight).includes(true)
}

function bearerOf({ authorization }: ShownSecret): (secret: string) => boolean {
  const [, token = ''] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  return (secret) => isEqual(token, secret)
}

/** Verifies `t=<unix>,v1=<hex>`: HMAC-SHA256 of `t.METHOD.path?query.sha256(body)`. */
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

/** See docs/spec/alerting.md#sources and docs/spec/alerting.md#ping-secret. */
export interface PingAuthRules {
  /** part of a ping that names its source; null without a source rule */
  sourceFrom: SourceRule['by'] | null
  /** null if pings need no secret */
  auth: PingAuth | null
}

export interface PingAuth {
  mode: 'bearer' | 'hmac'
  /** null if the stored secret cannot be decrypted; then no ping matches */
  secret: string | null
  previous: { secret: string; until: Micros } | null
}
