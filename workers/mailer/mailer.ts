import { mailDue } from '#shared/contracts/worker-messages.ts'
import { renderMail } from '#shared/delivery/mail-frame.ts'
import { createMailer, MailError, type Mailer, type OutgoingMail } from '#shared/delivery/mailer.ts'
import { notificationRetries, retryDelayMs } from '#shared/delivery/retry-schedule.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { LinkMail, WrittenMail } from '#shared/tenancy/mails/mail.ts'
import { claimMail, deleteMail, postponeMail } from '#shared/tenancy/mails/store.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'

const CONCURRENCY = 5

/** Retries temporary failures for about 105 minutes, then deletes the mail. */
export const mailer: Worker = {
  name: 'mailer',
  sends: true,
  start(deps) {
    const { smtpUrl, mailFrom } = deps.config
    const server = smtpUrl === undefined ? null : createMailer({ url: smtpUrl, from: mailFrom })
    const subscription = on(mailDue, CONCURRENCY, ({ mailId }) => attempt(deps, server, mailId))
    return [...(server ? [server] : []), subscribe('mailer', subscription, deps)]
  },
}

async function attempt(deps: WorkerDeps, server: Mailer | null, mailId: string): Promise<void> {
  const { db, secrets, log } = deps
  const claimed = await claimMail(db, mailId)
  if (!claimed) return
  try {
    if (!server) throw new MailError('SMTP_URL is not set', { refused: null, failure: 'connect' })
    const mail: LinkMail | WrittenMail = JSON.parse(secrets.open('mail', claimed.sealedMail))
    await server.send(toOutgoingMail(mailId, mail, deps.config.siteName))
    await deleteMail(db, mailId)
    log.info({ mailId, attempt: claimed.attempts }, 'mail.sent')
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    const failed = { attempts: claimed.attempts, retryAfterSeconds: null, random: Math.random() }
    const delayMs = error.refused !== null ? null : retryDelayMs(notificationRetries, failed)
    if (delayMs === null) await deleteMail(db, mailId)
    else await postponeMail(db, mailId, delayMs)
    log.warn(
      { mailId, attempt: claimed.attempts, retryInMs: delayMs, ...describeError(error) },
      delayMs === null ? 'mail.abandoned' : 'mail.not-sent',
    )
  }
}

const HEADERS = { 'Auto-Submitted': 'auto-generated' }

/** @param id the same for each attempt, so that mail servers can drop duplicates */
function toOutgoingMail(id: string, mail: LinkMail | WrittenMail, siteName: string): OutgoingMail {
  if ('html' in mail)
    return { ...mail, messageId: `${id}@signalbox`, headers: { ...HEADERS, ...mail.headers }, attachments: [] }
  const { to, subject, lead, action, url, foot } = mail
  const rendered = renderMail({
    siteName,
    headline: subject,
    tone: 'neutral',
    sections: [
      { kind: 'text', text: lead },
      { kind: 'buttons', buttons: [{ label: action, url }] },
      { kind: 'text', text: foot, isSmall: true },
    ],
    unsubscribe: null,
  })
  return { messageId: `${id}@signalbox`, to, subject, ...rendered, headers: HEADERS, attachments: [] }
}
