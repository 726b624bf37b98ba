import { sms } from '#shared/monitoring/integrations/kinds/sms.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { smsText } from '#shared/monitoring/notifications/message.ts'
import { defineTransport } from './transport.ts'
import { viaTwilio } from './twilio.ts'

export const smsTransport = defineTransport(sms, async (context, config, notification) =>
  viaTwilio(context, 'SMS', 'Messages', notification.id, ({ from }) =>
    fitted('sms', notification, (shown) => ({
      From: from,
      To: config.value,
      Body: smsText(shown, context.settings.siteName),
    })),
  ),
)
