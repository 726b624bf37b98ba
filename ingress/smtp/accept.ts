import { randomUUID } from 'node:crypto'
import type { AcceptedMail } from '#shared/contracts/ping-batch.ts'
import { UnavailableError } from '#shared/errors.ts'
import { storeMail } from '#shared/monitoring/pings/mail-store.ts'
import { type PackedText, packMailText } from '#shared/monitoring/pings/mail-text.ts'
import type { MailTarget } from '#shared/monitoring/pings/url.ts'
import { asUnavailable } from '#shared/platform/database/db.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { createTokenBuckets } from '#shared/platform/process/token-buckets.ts'
import { type Micros, toMillis } from '#shared/time.ts'
import type { IngressDeps } from '../deps.ts'
import type { Batcher } from '../ping-path/batcher.ts'
import type { CheckCache, KnownCheck } from '../ping-path/check-cache.ts'
import type { Heartbeat } from '../ping-path/heartbeat.ts'
import type { ListenerProof } from '../ping-path/listener-proof.ts'
import type { PingUsage } from '../ping-path/usage-counters.ts'

interface Mail {
  targets: readonly MailTarget[]
  /** empty for the null sender */
  sender: string
  remoteAddr: string | null
  /** headers and body as received, without dot-stuffing */
  raw: Buffer
}

/**
 * Resolves after the broker has confirmed a ping for every check that the mail names.
 * @throws UnavailableError if a confirm is missing; the sender retries, and a ping may then be stored twice
 */
export type MailListener = (mail: Mail) => Promise<void>

/**
 * Larger bodies and texts are stored in the database, not in the broker message. Texts must be short, because the
 * batcher counts only bodies, and the broker refuses messages above 16 MiB.
 */
const CARRIED_BODY_BYTES = 64 * 1024
const CARRIED_TEXT_BYTES = 16 * 1024
/** Longer mails are parsed in a thread. */
const QUICK_BYTES = 16 * 1024
const USER_AGENT_LENGTH = 200
const NOTHING = Buffer.alloc(0)

interface Contents {
  checkId: number
  body: Buffer | null
  text: AcceptedMail['text']
  /** id of the row with the body or text that the message does not contain */
  storedBody: string | null
}

/** Converts mails into pings. A recipient without a check is only logged. */
export function createMailListener(
  deps: Pick<IngressDeps, 'config' | 'db' | 'broker' | 'log' | 'metrics' | 'now' | 'threads'>,
  parts: {
    cache: CheckCache
    batcher: Batcher
    heartbeat: Heartbeat
    uses: PingUsage
    proof: Pick<ListenerProof, 'refusals'>
  },
): MailListener {
  const { log, metrics } = deps
  const pingLimit = createTokenBuckets(deps.config.pingRateLimitPerMinute, 100_000)
  const storeLimit = createTokenBuckets(deps.config.mailRateLimitPerCheck, 100_000)

  async function accept(mail: Mail): Promise<void> {
    await parts.heartbeat.begun()
    const found = await Promise.all(mail.targets.map((target) => findCheck(parts.cache, target)))
    const nowMs = toMillis(deps.now())
    const named = [...new Set(found.flatMap(({ check }) => check?.checkId ?? []))]
    const checks = named.filter((checkId) => pingLimit.take(checkId, nowMs).granted)
    for (const checkId of named) if (!checks.includes(checkId)) parts.uses.limited(checkId)
    for (const [index, target] of mail.targets.entries()) {
      if (target.form === 'slug' && found[index]?.check) parts.uses.keyUsed(target.pingKey)
    }
    const ignored = found.flatMap(({ reason }) => reason ?? [])
    if (ignored.length > 0) log.info({ remoteAddr: mail.remoteAddr, reasons: ignored }, 'mail.ignored')
    if (checks.length === 0) return

    // Checked before storing, because otherwise each retry of the sender would store further rows.
    if (deps.broker.publisherEpoch === '') throw new UnavailableError('the broker cannot be reached')
    const body = mail.raw.subarray(0, deps.config.mailBodyLimit)
    const withBody = checks.filter((checkId) => storeLimit.take(checkId, nowMs).granted)
    const withoutBody = checks.filter((checkId) => !withBody.includes(checkId))
    const text = await readText(mail.raw)
    const stored = [
      ...(await storeLarge(text, body, withBody)),
      // Above its rate limit for mails a check gets pings without a body.
      ...(await storeLarge(text, NOTHING, withoutBody)),
    ]
    const receivedAt = deps.now()
    await Promise.all(
      stored.map(({ checkId, ...contents }) => {
        const ping = pingOf(mail, { checkId, ...contents }, receivedAt, text.subject)
        return new Promise<void>((resolve, reject) => {
          parts.batcher.add(ping, (error) => {
            if (error) parts.proof.refusals.count(checkId, performance.now())
            if (error) reject(error)
            else resolve()
          })
        })
      }),
    )
    metrics.pingsAccepted.inc(checks.length)
  }

  async function readText(raw: Buffer): Promise<PackedText> {
    const input = { raw, carriedBytes: CARRIED_TEXT_BYTES }
    return raw.length <= QUICK_BYTES ? await packMailText(input) : await deps.threads.run('packMailText', input)
  }

  /**
   * Stores a mail in the database if it is too large for the message.
   * @returns the contents of the message of each check
   */
  async function storeLarge(text: PackedText, body: Buffer, checks: readonly number[]): Promise<Contents[]> {
    if (checks.length === 0) return []
    if (text.carried && body.length <= CARRIED_BODY_BYTES) {
      const carriedBody = body === NOTHING ? null : body
      return checks.map((checkId) => ({ checkId, body: carriedBody, text: text.carried, storedBody: null }))
    }
    const contents = checks.map((checkId) => ({ checkId, body: null, text: text.carried, storedBody: randomUUID() }))
    const ids = contents.map(({ storedBody }) => storedBody)
    await storeMail(deps.db, ids, { body, text: text.stored && Buffer.from(text.stored) })
    return contents
  }

  return async (mail) => {
    try {
      await accept(mail)
    } catch (cause) {
      const error = asUnavailable(cause)
      metrics.pingsRefused.inc({ status: 451 })
      if (error instanceof UnavailableError) log.warn(describeError(error), 'mail.not-accepted')
      throw error
    }
  }
}

function pingOf(mail: Mail, { checkId, body, text, storedBody }: Contents, receivedAt: Micros, subject: string) {
  return {
    checkId,
    kind: 'success' as const,
    exitStatus: null,
    receivedAt,
    scheme: 'email',
    remoteAddr: mail.remoteAddr,
    method: '',
    ua: `Email from ${mail.sender || '<>'}`.slice(0, USER_AGENT_LENGTH),
    rid: null,
    body,
    mail: { text, storedBody, ...(text === null && { subject }) },
  }
}

interface Found {
  check?: KnownCheck
  reason?: 'unknown check' | 'unknown slug' | 'ambiguous slug'
}

async function findCheck(cache: CheckCache, target: MailTarget): Promise<Found> {
  if (target.form === 'uuid') {
    const known = cache.byUuid.peek(target.uuid)
    const check = known === undefined ? await cache.byUuid.find(target.uuid) : known
    return check ? { check } : { reason: 'unknown check' }
  }
  const key = `${target.pingKey}/${target.slug}`
  const known = cache.bySlug.peek(key)
  const match = known === undefined ? await cache.bySlug.find(key) : known
  if (match === 'ambiguous') return { reason: 'ambiguous slug' }
  return match ? { check: match } : { reason: 'unknown slug' }
}
