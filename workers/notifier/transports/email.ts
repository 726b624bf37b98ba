import { MailError } from '#shared/delivery/mailer.ts'
import { delivered, permanent, temporary } from '#shared/delivery/outcome.ts'
import { email } from '#shared/monitoring/channels/kinds/email.ts'
import { emailMessage } from '#shared/monitoring/notifications/email-message.ts'
import { defineTransport } from './transport.ts'

export const emailTransport = defineTransport(email, async ({ mailer, settings }, config, notification) => {
  if (!notification.channel.isEmailVerified) return temporary('Email not verified', { failure: 'config', final: true })
  if (!mailer) return temporary('Email notifications are not enabled', { failure: 'config', final: true })
  try {
    const envelopeFrom = settings.bounceAddressOf?.(notification.id)
    await mailer.send({
      to: config.value,
      ...(envelopeFrom !== undefined && { envelopeFrom }),
      ...emailMessage(notification, settings.siteName),
    })
    return delivered
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    const fail = error.permanent ? permanent : temporary
    return fail(error.message, { failure: error.failure })
  }
})
