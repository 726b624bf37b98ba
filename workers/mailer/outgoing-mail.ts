import type { OutgoingMail } from '#shared/delivery/mailer.ts'
import { escapeHtml } from '#shared/monitoring/notifications/escapes.ts'
import type { LinkMail } from '#shared/tenancy/mails/link-mail.ts'
import type { WrittenMail } from '#shared/tenancy/mails/written-mail.ts'

const HEADERS = { 'Auto-Submitted': 'auto-generated' }

/** The mail as it is sent. @param id the same at every attempt, so that mail servers can drop repetitions */
export function toOutgoingMail(id: string, mail: LinkMail | WrittenMail): OutgoingMail {
  if ('html' in mail)
    return { ...mail, messageId: `${id}@signalbox`, headers: { ...HEADERS, ...mail.headers }, attachments: [] }
  const [lead, url, foot] = [mail.lead, mail.url, mail.foot].map(escapeHtml)
  return {
    messageId: `${id}@signalbox`,
    to: mail.to,
    subject: mail.subject,
    text: `${mail.lead}\n\n${mail.url}\n\n${mail.foot}\n`,
    html: `<p>${lead}</p><p><a href="${url}">${url}</a></p><p>${foot}</p>`,
    headers: HEADERS,
    attachments: [],
  }
}
