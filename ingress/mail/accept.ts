import { randomUUID } from 'node:crypto'
import type { AcceptedMail } from '#shared/contracts/ping-batch.ts'
import { UnavailableError } from '#shared/errors.ts'
import type { MailTarget } from '#shared/pings/mail-address.ts'
import { storeMail } from '#shared/pings/mail-store.ts'
import { readMailText } from '#shared/pings/mail-text.ts'
import { asUnavailable } from '#shared/platform/db.ts'
import { describeError } from '#shared/platform/log.ts'
import type { IngressDeps } from '../deps.ts'
import type { Batcher } from '../ping/batcher.ts'
import type { CheckCache, KnownCheck } from '../ping/check-cache.ts'
import { createPingLimiter } from '../ping/rate-limit.ts'

export interface Mail {
  targets: readonly MailTarget[]
  /** empty for the null sender */
  sender: string
  remoteAddr: string | null
  /** headers and body as sent, dots unstuffed */
  raw: Buffer
}

/**
 * Resolves when every check that the mail names has its ping with the broker for good.
 * @throws UnavailableError when that cannot be said: the sender tries again, and a ping may then be there twice
 */
export type MailDoor = (mail: Mail) => Promise<void>

/**
 * What of a mail travels in a queue message; the rest waits in the database. Many mails may share a message, which
 * the batcher bounds by their bodies alone and the broker at 16 MiB: so text that may come without its body is short.
 */
const CARRIED_BODY_BYTES = 64 * 1024
const CARRIED_TEXT_BYTES = 16 * 1024
const USER_AGENT_LENGTH = 200

/** Turns mails into pings, by the same path as those by HTTP. A recipient without a check is only logged. */
export function createMailDoor(
  deps: Pick<IngressDeps, 'config' | 'db' | 'broker' | 'log' | 'metrics' | 'now'>,
  parts: { cache: CheckCache; batcher: Batcher },
): MailDoor {
  const { log, metrics } = deps
  const mayPing = createPingLimiter(deps.config.pingRateLimitPerMinute)

  async function accept(mail: Mail): Promise<void> {
    const found = await Promise.all(mail.targets.map((target) => findCheck(parts.cache, target)))
    const checks = [...new Set(found.flatMap(({ check }) => check?.checkId ?? []))].filter((checkId) =>
      mayPing(checkId, deps.now() / 1000),
    )
    const ignored = found.flatMap(({ reason }) => reason ?? [])
    if (ignored.length > 0) log.info({ remoteAddr: mail.remoteAddr, reasons: ignored }, 'mail.ignored')
    if (checks.length === 0) return

    // While it cannot be published, every try of the sender would leave its rows behind.
    if (deps.broker.publisherEpoch === '') throw new UnavailableError('the broker cannot be reached')
    const contents = await carry(mail.raw, checks.length)
    const receivedAt = deps.now()
    await Promise.all(
      checks.map((checkId, index) => {
        const ping = {
          checkId,
          kind: 'success' as const,
          exitStatus: null,
          receivedAt,
          scheme: 'email',
          remoteAddr: mail.remoteAddr,
          method: '',
          ua: `Email from ${mail.sender || '<>'}`.slice(0, USER_AGENT_LENGTH),
          rid: null,
          body: contents.body,
          mail: { text: contents.text, storedBody: contents.ids[index] ?? null },
        }
        return new Promise<void>((resolve, reject) => {
          parts.batcher.add(ping, (error) => (error ? reject(error) : resolve()))
        })
      }),
    )
    metrics.pingsAccepted.inc(checks.length)
  }

  /** Puts what is too large where the evaluator finds it. @returns what is left for the messages */
  async function carry(raw: Buffer, recipients: number) {
    const text = await readMailText(raw)
    const isTextCarried = Buffer.byteLength(JSON.stringify(text)) <= CARRIED_TEXT_BYTES
    const carriedText: AcceptedMail['text'] = isTextCarried ? text : null
    if (isTextCarried && raw.length <= CARRIED_BODY_BYTES) return { body: raw, text: carriedText, ids: [] }
    const ids = Array.from({ length: recipients }, () => randomUUID())
    await storeMail(deps.db, ids, { body: raw, text: isTextCarried ? null : text })
    return { body: null, text: carriedText, ids }
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
