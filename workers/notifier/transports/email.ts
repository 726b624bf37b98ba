import { MailError, type Mailer, type OutgoingMail } from '#shared/delivery/mailer.ts'
import { delivered, type Outcome, permanent, temporary } from '#shared/delivery/outcome.ts'
import { email } from '#shared/monitoring/integrations/kinds/email.ts'
import { emailMessage } from '#shared/monitoring/notifications/email-message.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import { defineTransport } from './transport.ts'

/**
 * Only a permanent refusal of the recipient disables the integration. A message that the server refuses because of its
 * content is sent once more without the text of the ping, because the ping address alone allows to send it.
 */
export const emailTransport = defineTransport(email, async ({ mailer, settings }, config, notification) => {
  if (!notification.channel.isEmailVerified) return temporary('Email not verified', { failure: 'config', final: true })
  if (!mailer) return temporary('Email notifications are not enabled', { failure: 'config', final: true })
  const envelopeFrom = settings.bounceAddressOf?.(notification.id)
  const send = async (content: Notification) =>
    await attempt(mailer, {
      to: config.value,
      ...(envelopeFrom !== undefined && { envelopeFrom }),
      ...emailMessage(content, settings.siteName),
    })
  const error = await send(notification)
  const isRefused = error?.refused === 'message' && notification.lastPing !== null
  return outcomeOf(isRefused ? await send(withoutPing(notification)) : error)
})

async function attempt(mailer: Mailer, mail: OutgoingMail): Promise<MailError | null> {
  try {
    await mailer.send(mail)
    return null
  } catch (error) {
    if (error instanceof MailError) return error
    throw error
  }
}

function outcomeOf(error: MailError | null): Outcome {
  if (!error) return delivered
  const { message, failure, refused } = error
  if (refused === 'recipient') return permanent(message, { failure })
  return temporary(message, { failure, final: refused === 'message' })
}

function withoutPing(notification: Notification): Notification {
  const { lastPing } = notification
  if (!lastPing) return notification
  const note = 'its content is left out because the mail server refused it'
  return { ...notification, lastPing: { ...lastPing, ua: note, body: null } }
}
