import { whatsapp } from '#shared/monitoring/integrations/kinds/whatsapp.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { smsText } from '#shared/monitoring/notifications/message.ts'
import { defineTransport } from './transport.ts'
import { viaTwilio } from './twilio.ts'

/** WhatsApp lets businesses open a conversation by an approved template only; gateways of one's own may not care. */
export const whatsappTransport = defineTransport(whatsapp, async (context, config, notification) =>
  viaTwilio(context, 'WhatsApp', 'Messages', notification.id, ({ from }) =>
    fitted('whatsapp', notification, (shown) => {
      const text = smsText(shown, context.settings.siteName)
      return {
        From: `whatsapp:${from}`,
        To: `whatsapp:${config.value}`,
        ...(config.content_sid === undefined
          ? { Body: text }
          : { ContentSid: config.content_sid, ContentVariables: JSON.stringify({ 1: text }) }),
      }
    }),
  ),
)
