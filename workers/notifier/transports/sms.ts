import { sms } from '#shared/channels/kinds/sms.ts'
import { smsText } from '#shared/notifications/message.ts'
import { defineTransport } from './transport.ts'
import { viaTwilio } from './twilio.ts'

export const smsTransport = defineTransport(sms, async (context, config, notification) =>
  viaTwilio(context, 'SMS', 'Messages', ({ from }) => ({
    From: from,
    To: config.value,
    Body: smsText(notification, context.settings.siteName),
  })),
)
