import { sms } from '#shared/monitoring/channels/kinds/sms.ts'
import { smsText } from '#shared/monitoring/notifications/message.ts'
import { defineTransport } from './transport.ts'
import { viaTwilio } from './twilio.ts'

export const smsTransport = defineTransport(sms, async (context, config, notification) =>
  viaTwilio(context, 'SMS', 'Messages', notification.id, ({ from }) => ({
    From: from,
    To: config.value,
    Body: smsText(notification, context.settings.siteName),
  })),
)
