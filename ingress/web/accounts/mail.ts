import { randomUUID } from 'node:crypto'
import { describeError } from '#shared/platform/log.ts'
import { createMailer, MailError, type Mailer } from '#shared/platform/mailer.ts'
import type { IngressDeps } from '../../deps.ts'
import { perProcess } from '../../middleware/per-process.ts'

const mailers = perProcess((deps): Mailer | null =>
  deps.config.smtpUrl === undefined ? null : createMailer({ url: deps.config.smtpUrl, from: deps.config.mailFrom }),
)

/**
 * Sends a short mail with one link. Links are built from the configured public address, never from the request's.
 * @returns whether the mail server took it; false also when none is configured
 */
export async function mailLink(
  deps: IngressDeps,
  mail: { to: string; subject: string; lead: string; path: string; foot: string },
): Promise<boolean> {
  const mailer = mailers(deps)
  if (!mailer) return false
  const url = deps.config.publicUrl + mail.path
  try {
    await mailer.send({
      messageId: `${randomUUID()}@signalbox`,
      to: mail.to,
      subject: mail.subject,
      text: `${mail.lead}\n\n${url}\n\n${mail.foot}\n`,
      html: `<p>${escapeHtml(mail.lead)}</p><p><a href="${escapeHtml(url)}">${escapeHtml(url)}</a></p><p>${escapeHtml(mail.foot)}</p>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      attachments: [],
    })
    return true
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    deps.log.warn(describeError(error), 'web.mail-not-sent')
    return false
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
