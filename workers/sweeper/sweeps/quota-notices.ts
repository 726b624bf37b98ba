import { renderMail } from '#shared/delivery/mail-frame.ts'
import { createMailer, MailError, type OutgoingMail } from '#shared/delivery/mailer.ts'
import { oneLine } from '#shared/monitoring/notifications/text-parts.ts'
import { claimQuotaNotices, type DueNotice, returnQuotaNotice } from '#shared/monitoring/projects/quota-store.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { Sweep } from '../sweep.ts'

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
      // Owners who have the mail may get it again; their server can drop it by its message id.
      if (failures.some(({ refused }) => refused === null)) await returnQuotaNotice(db, notice.projectId)
    }
  },
}

function mailOf(notice: DueNotice, to: string, config: { publicUrl: string; siteName: string }): OutgoingMail {
  const name = oneLine(notice.projectName)
  const url = `${config.publicUrl}/projects/${notice.projectUuid}/checks`
  const subject = `The project "${name}" has reached its limit of ${notice.checkLimit} checks`
  return {
    messageId: `quota.${notice.projectUuid}.${notice.checkLimit}@${URL.parse(config.publicUrl)?.hostname || 'localhost'}`,
    to,
    subject,
    ...renderMail({
      siteName: config.siteName,
      headline: subject,
      tone: 'neutral',
      sections: [
        {
          kind: 'text',
          text: 'You cannot add more checks. Pings can still create checks, up to twice the limit.',
        },
        { kind: 'buttons', buttons: [{ label: 'Open the checks', url }] },
        {
          kind: 'text',
          text: 'If you did not expect this, your ping key may have leaked: look at the newest checks, revoke the key and create a new one.',
          isSmall: true,
        },
      ],
      unsubscribe: null,
    }),
    headers: { 'Auto-Submitted': 'auto-generated' },
    attachments: [],
  }
}
