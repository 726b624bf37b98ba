import type { ContactMessage, TrialResult } from '#shared/contracts/worker-messages.ts'
import { type Outcome, temporary } from '#shared/delivery/outcome.ts'
import { nextAttemptInMs, notificationRetries } from '#shared/delivery/retry-schedule.ts'
import { claimCode } from '#shared/monitoring/contacts/code-store.ts'
import { CODE_SECONDS } from '#shared/monitoring/contacts/contact-codes.ts'
import type { ContactMethod } from '#shared/monitoring/contacts/contact-method.ts'
import { type ContactRow, findContactRow } from '#shared/monitoring/contacts/contact-store.ts'
import { releaseMonthly } from '#shared/monitoring/notifications/monthly-store.ts'
import type { Notification, Summary } from '#shared/monitoring/notifications/notification.ts'
import { listText } from '#shared/monitoring/notifications/text-parts.ts'
import {
  type ClaimedNotice,
  claimNotice,
  endNotice,
  noticeAttempts,
  postponeNotice,
} from '#shared/monitoring/on-call/notice-store.ts'
import { contactMethodOf } from '#shared/monitoring/operations/contact-config.ts'
import { summaryWithoutRow, trialNotification } from './build-notification.ts'
import { recordMethodAttempt, sendByMethod } from './contact-method.ts'
import type { NotifierContext } from './context.ts'
import { acquireSlot, reserveContactMessage } from './limits.ts'

const GONE = temporary('The contact method was deleted', { failure: 'limit' })
const TOO_LATE = temporary('Nothing was sent: too much else is waiting', { failure: 'limit' })
const DUPLICATE = temporary('This message was sent', { failure: 'limit' })
const INCOMPLETE = temporary('The settings are incomplete', { failure: 'config', final: true })
const NOT_VERIFIED = temporary('The contact method is not verified', { failure: 'config', final: true })

const NOT_ATTEMPTED: ReadonlySet<Outcome> = new Set([GONE, TOO_LATE, DUPLICATE, INCOMPLETE, NOT_VERIFIED])

/** A notice stays due. */
const NOT_CLAIMED: ReadonlySet<Outcome> = new Set([TOO_LATE, DUPLICATE])

/** Pages that list contact methods. */
const PAGE = '/account/notifications'

/** Sends a code, a test or a notice to a contact method: one attempt by the transport of its kind. */
export async function sendContactMessage(context: NotifierContext, message: ContactMessage): Promise<void> {
  const row = await findContactRow(context.db, null, message.methodId)
  const method = row && contactMethodOf(row, context.secrets)
  const outcome = row && method ? await attempt(context, row, method, message) : GONE
  if (method && !NOT_ATTEMPTED.has(outcome)) await recordMethodAttempt(context, method, outcome)
  if (message.what === 'notice' && !NOT_CLAIMED.has(outcome)) await recordNotice(context, message.messageId, outcome)
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
    const notification = await claimed(context, method, message)
    if (notification === null) return DUPLICATE
    const permit = await reserveContactMessage(context, { ...row, messageId: message.messageId }, config)
    if (permit.refusal) return permit.refusal
    const outcome = await sendByMethod(context, method, notification)
    if (outcome.result !== 'delivered' && permit.reservation) await releaseMonthly(context.db, permit.reservation)
    return outcome
  } finally {
    slot.release()
  }
}

/** Returns the content; null if a code or a notice was sent or replaced. */
async function claimed(
  context: NotifierContext,
  method: ContactMethod,
  message: ContactMessage,
): Promise<Notification | null> {
  const { db, secrets, config } = context
  const { messageId: id, what, sealedText } = message
  const link = config.publicUrl + PAGE
  if (what === 'test') {
    const trial = trialNotification(context, { trialId: id, status: 'down' })
    return { ...trial, urls: { ...trial.urls, check: link } }
  }
  if (what === 'notice') {
    const notice = await claimNotice(db, id)
    return notice && summaryWithoutRow(context, { id, summary: shiftSummary(notice, config.publicUrl) })
  }
  if (what === 'code' && !(await claimCode(db, id))) return null
  const text = secrets.open('contact', sealedText)
  return summaryWithoutRow(context, {
    id,
    summary: what === 'code' ? codeSummary(method, text, link) : noticeSummary(text, link),
  })
}

function shiftSummary({ title, text, projectUuid, scheduleUuid }: ClaimedNotice, site: string): Summary {
  const list = { before: '', names: [text], size: 1, after: '' }
  const link = `${site}/projects/${projectUuid}/on-call/${scheduleUuid}`
  return { title, text, facts: [], list, link, linkText: 'Open the schedule' }
}

/** A temporary failure is retried until the notice expires. */
async function recordNotice({ db }: NotifierContext, id: string, outcome: Outcome): Promise<void> {
  const attempts = await noticeAttempts(db, id)
  const retryInMs = nextAttemptInMs(notificationRetries, outcome, attempts, Math.random())
  if (retryInMs === null) await endNotice(db, id)
  else await postponeNotice(db, id, retryInMs)
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
