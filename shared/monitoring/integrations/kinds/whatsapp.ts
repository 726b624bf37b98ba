import { z } from 'zod'
import { isSwitchedOff, phoneNumber, switches, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const whatsapp = defineKind({
  kind: 'whatsapp',
  label: 'WhatsApp',
  schema: z.strictObject({ value: phoneNumber, ...switches, content_sid: token(100).optional() }),
  help: [
    'value        phone number, like +15550100',
    'down         report failures (true)',
    'up           report recoveries (true)',
    'content_sid  approved content template with one variable, the message; without it the text is sent as it is',
  ],
  isNoop: isSwitchedOff,
})
