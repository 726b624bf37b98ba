import { createMailer, MailError, type OutgoingMail } from '#shared/delivery/mailer.ts'
import { escapeHtml, oneLine } from '#shared/monitoring/notifications/text-parts.ts'
import { claimQuotaNotices, type DueNotice, returnQuotaNotice } from '#shared/monitoring/projects/quota-store.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { Sweep } from '../sweep.ts'

/** Mails the owners of a project that reaches its check limit, once. */
export const quotaNotices: Sweep = {
  name: 'quota-notices',
  everySeconds: 10,
  async run({ deps }) {
    const { config, reserveDb: db, log } = deps
    if (config.smtpUrl === undefined) return
    const notices = await claimQuotaNotices(db)
    if (notices.length === 0) return
    await using mailer = createMailer({ url: config.smtpUrl, from: config.mailFrom })
    for (const notice of notices) {
      const failures: MailError[] = []
      for (const to of notice.owners) {
        try {
          await mailer.send(mailOf(notice, to, config))
        } catch (error) {
          if (!(error instanceof MailError)) throw error
          log.warn({ projectId: notice.projectId, ...describeError(error) }, 'quota-notice.not-sent')
          failures.push(error)
          // If the server cannot be reached, each further owner costs a timeout.
          if (error.failure !== 'refused') break
        }
      }
      // A mail server drops a repeated mail by its message id.
      if (failures.some(({ refused }) => refused === null)) await returnQuotaNotice(db, notice.projectId)
    }
  },
}

function mailOf(notice: DueNotice, to: string, config: { publicUrl: string; siteName: string }): OutgoingMail {
  const name = oneLine(notice.projectName)
  const url = `${config.publicUrl}/projects/${notice.projectUuid}/checks`
  const lines = [
    `The project "${name}" has reached its limit of ${notice.checkLimit} checks. No more can be added; pings that would make one are refused at twice as many.`,
    'When you did not expect this, somebody may have your ping key: look at the newest checks, revoke the key and make a new one.',
    url,
  ]
  return {
    messageId: `quota.${notice.projectUuid}.${notice.checkLimit}@${URL.parse(config.publicUrl)?.hostname || 'localhost'}`,
    to,
    subject: `The project "${name}" has as many checks as it may`,
    text: `${lines.join('\n\n')}\n\n--\n${config.siteName}\n`,
    html: `<!doctype html><html lang="en"><body>${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n')}</body></html>\n`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    attachments: [],
  }
}
