import { call } from '#shared/channels/kinds/call.ts'
import { escapeHtml } from '#shared/notifications/escapes.ts'
import { spokenText } from '#shared/notifications/message.ts'
import { defineTransport } from './transport.ts'
import { viaTwilio } from './twilio.ts'

export const callTransport = defineTransport(call, async (context, config, notification) =>
  viaTwilio(context, 'Call', 'Calls', ({ from }) => ({
    From: from,
    To: config.value,
    Twiml: `<Response><Say>${escapeHtml(spokenText(notification, context.settings.siteName))}</Say></Response>`,
  })),
)
