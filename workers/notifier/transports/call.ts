import { call } from '#shared/monitoring/integrations/kinds/call.ts'
import { escapeHtml } from '#shared/monitoring/notifications/escapes.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { speechText } from '#shared/monitoring/notifications/message.ts'
import { defineTransport } from './transport.ts'
import { viaTwilio } from './twilio.ts'

export const callTransport = defineTransport(call, async (context, config, notification) =>
  viaTwilio(context, 'Call', 'Calls', notification.id, ({ from }) =>
    fitted('call', notification, (shown) => ({
      From: from,
      To: config.value,
      Twiml: `<Response><Say>${escapeHtml(speechText(shown, context.settings.siteName))}</Say></Response>`,
    })),
  ),
)
