import { randomUUID } from 'node:crypto'
import { type ContactMessage, contactMessageDue, type TrialResult } from '#shared/contracts/worker-messages.ts'
import { type Outcome, temporary } from '#shared/delivery/outcome.ts'
import { claimCode } from '#shared/monitoring/contacts/code-store.ts'
import { CODE_SECONDS } from '#shared/monitoring/contacts/contact-codes.ts'
import { maskedAddress, withoutShared } from '#shared/monitoring/contacts/contact-kinds.ts'
import { type ContactMethod, isUsable } from '#shared/monitoring/contacts/contact-method.ts'
import {
  type ContactRow,
  ensureAccountMethods,
  findContactRow,
  listContactRows,
  recordContactAttempt,
  saveContactConfig,
} from '#shared/monitoring/contacts/contact-store.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { releaseMonthly } from '#shared/monitoring/notifications/monthly-store.ts'
import type { Notification, Summary } from '#shared/monitoring/notifications/notification.ts'
import { listText, oneLine } from '#shared/monitoring/notifications/text-parts.ts'
import { contactMethodOf } from '#shared/monitoring/operations/contact-config.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { microsOfSeconds } from '#shared/time.ts'
import { summaryWithoutRow, trialNotification } from './build-notification.ts'
import { INTERNAL_ERROR, type NotifierContext } from './context.ts'
import { acquireSlot, reserveContactMessage } from './limits.ts'
import { transportSettings } from './transport-settings.ts'
import { transports } from './transports/registry.ts'
import type { TransportContext } from './transports/transport.ts'

const GONE = temporary('The contact method was deleted', { failure: 'limit' })
const TOO_LATE = temporary('Nothing was sent: too much else is waiting', { failure: 'limit' })
const DUPLICATE = temporary('This message was sent', { failure: 'limit' })
const INCOMPLETE = temporary('The settings are incomplete', { failure: 'config', final: true })
const NOT_VERIFIED = temporary('The contact method is not verified', { failure: 'config', final: true })

const NOT_ATTEMPTED: ReadonlySet<Outcome> = new Set([GONE, TOO_LATE, DUPLICATE, INCOMPLETE, NOT_VERIFIED])

/** Pages that list contact methods. */
const PAGE = '/account/notifications'
const NOTICE_SECONDS = 3600

/** Sends a code, a test or a notice to a contact method: one attempt by the transport of its kind. */
export async function sendContactMessage(context: NotifierContext, message: ContactMessage): Promise<void> {
  const row = await findContactRow(context.db, null, message.methodId)
  const method = row && contactMethodOf(row, context.secrets)
  const outcome = row && method ? await attempt(context, row, method, message) : GONE
  if (method && !NOT_ATTEMPTED.has(outcome)) await record(context, method, outcome)
  if (message.replyTo === undefined) return
  const result: TrialResult = {
    status: null,
    error: outcome.result === 'delivered' || outcome === DUPLICATE ? '' : outcome.error,
    durationMs: 0,
  }
  context.broker.send({
    exchange: '',
    routingKey: message.replyTo,
    body: Buffer.from(JSON.stringify(result)),
    correlationId: message.messageId,
  })
}

async function attempt(
  context: NotifierContext,
  row: ContactRow,
  method: ContactMethod,
  message: ContactMessage,
): Promise<Outcome> {
  const { config, kind } = method
  if (config === null) return INCOMPLETE
  if (message.what !== 'code' && !method.isVerified) return NOT_VERIFIED
  const slot = await acquireSlot(context, { kind, projectId: 0 }, config)
  if ('retryInMs' in slot) return TOO_LATE
  try {
    if (context.now() > message.beginBy) return TOO_LATE
    if (message.what === 'code' && !(await claimCode(context.db, message.messageId))) return DUPLICATE
    const permit = await reserveContactMessage(context, { ...row, messageId: message.messageId }, config)
    if (permit.refusal) return permit.refusal
    const outcome = await send(context, method, notificationFor(context, method, message))
    if (outcome.result !== 'delivered' && permit.reservation) await releaseMonthly(context.db, permit.reservation)
    return outcome
  } finally {
    slot.release()
  }
}

async function send(context: NotifierContext, method: ContactMethod, notification: Notification): Promise<Outcome> {
  try {
    const transport = transports.get(method.kind)
    return transport
      ? await transport.send(transportContext(context, method), method.config, notification)
      : INTERNAL_ERROR
  } catch (error) {
    context.log.error({ methodId: method.id, kind: method.kind, ...describeError(error) }, 'transport.failed')
    return INTERNAL_ERROR
  }
}

function transportContext(context: NotifierContext, method: ContactMethod): TransportContext {
  const { db, secrets, http, gatewayHttp, mailer } = context
  // Bounces and callbacks name a stored notification, which these messages are not.
  const { bounceAddressOf: _, callbackUrlOf: __, ...settings } = transportSettings(context)
  return {
    http,
    gatewayHttp,
    mailer,
    settings,
    now: Date.now,
    async saveConfig(changed) {
      const own = method.via === null ? changed : withoutShared(method.kind, changed)
      await saveContactConfig(db, method.id, secrets.seal('contact', JSON.stringify(own)))
    },
    sendToMembers: async () => [],
  }
}

function notificationFor(context: NotifierContext, method: ContactMethod, message: ContactMessage): Notification {
  const { secrets, config } = context
  const text = secrets.open('contact', message.sealedText)
  const link = config.publicUrl + PAGE
  if (message.what === 'test') {
    const trial = trialNotification(context, { trialId: message.messageId, status: 'down' })
    return { ...trial, urls: { ...trial.urls, check: link } }
  }
  const summary = message.what === 'code' ? codeSummary(method, text, link) : noticeSummary(text, link)
  return summaryWithoutRow(context, { id: message.messageId, summary })
}

/** A call speaks the digits one by one, and twice. */
function codeSummary({ id, kind }: ContactMethod, code: string, page: string): Summary {
  const digits = [...code].join(', ')
  const spoken = `${digits}. I repeat: ${digits}`
  const minutes = CODE_SECONDS / 60
  const names = [kind === 'call' ? spoken : code]
  const list = { before: 'Your code is ', names, size: 1, after: `. It is valid for ${minutes} minutes.` }
  return {
    title: 'Verification code',
    text: listText(list, null),
    facts: [],
    list,
    link: `${page}/${id}?code=${code}`,
    linkText: 'Verify this address',
  }
}

function noticeSummary(text: string, link: string): Summary {
  const list = { before: '', names: [text], size: 1, after: '' }
  return { title: 'A contact method was disabled', text, facts: [], list, link, linkText: 'Open my notifications' }
}

/** A permanent failure disables the method and sends a notice through the person's other methods. */
async function record(context: NotifierContext, method: ContactMethod, outcome: Outcome): Promise<void> {
  const { id, kind } = method
  const error = outcome.result === 'delivered' ? '' : outcome.error
  const isDisabledNow = await context.outbox.run(async (tx, enqueue) => {
    const isDisabled = await recordContactAttempt(tx, id, { error, disables: outcome.result === 'permanent' })
    if (!isDisabled) return false
    await ensureAccountMethods(tx, [method.userId])
    const others = (await listContactRows(tx, [method.userId])).filter((row) => row.id !== id)
    const text = noticeText(method, error)
    for (const row of others) {
      if (!isUsable(contactMethodOf(row, context.secrets), context.config)) continue
      const sealedText = context.secrets.seal('contact', text)
      const beginBy = context.now() + microsOfSeconds(NOTICE_SECONDS)
      await enqueue(contactMessageDue, {
        messageId: randomUUID(),
        methodId: row.id,
        what: 'disabled',
        sealedText,
        beginBy,
      })
    }
    return true
  })
  context.metrics.notifications.inc({ kind, outcome: outcome.result })
  context.log.info({ methodId: id, kind, outcome: outcome.result, isDisabledNow }, 'contact.attempted')
}

function noticeText({ kind, name, config }: ContactMethod, error: string): string {
  const label = findKind(kind)?.label ?? kind
  const address = config === null ? '' : ` (${maskedAddress(kind, config)})`
  return oneLine(`${name || label}${address} receives nothing until you enable it: ${error}.`)
}
