import { z } from 'zod'
import { baseUrl, isSwitchedOff, isUp, phoneNumber, switches, token } from '../fields.ts'
import { defineKind, type IntegrationKind } from '../kind.ts'

export const sms = defineKind({
  kind: 'sms',
  label: 'SMS',
  about: 'A text message to a phone.',
  schema: z.strictObject({ value: phoneNumber, ...switches }),
  help: ['value   phone number, like +15550100', 'down    report failures (true)', 'up      report recoveries (true)'],
  isNoop: isSwitchedOff,
})

export const call = defineKind({
  kind: 'call',
  label: 'Phone call',
  about: 'A call that reads out what is down.',
  schema: z.strictObject({ value: phoneNumber }),
  help: ['value   phone number, like +15550100; failures only'],
  isNoop: isUp,
})

export const whatsapp = defineKind({
  kind: 'whatsapp',
  label: 'WhatsApp',
  about: 'A WhatsApp message to a phone.',
  logo: 'whatsapp',
  schema: z.strictObject({ value: phoneNumber, ...switches, content_sid: token(100).optional() }),
  help: [
    'value        phone number, like +15550100',
    'down         report failures (true)',
    'up           report recoveries (true)',
    'content_sid  approved content template with one variable, the message; without it the text is sent as it is',
  ],
  isNoop: isSwitchedOff,
})

/** A recipient may also be a `group.` id of the owner's signal-cli server. */
export const signal = defineKind({
  kind: 'signal',
  label: 'Signal',
  about: 'A Signal message, by your own gateway.',
  logo: 'signal',
  schema: z.strictObject({
    value: z.union([
      phoneNumber,
      token(200).refine((text) => text.startsWith('group.'), 'must be a number or a group'),
    ]),
    number: phoneNumber,
    url: baseUrl,
    ...switches,
  }),
  help: [
    'value   number of the recipient, like +15550100, or a group id that starts with "group."',
    'number  registered number of the sender',
    'url     URL of the signal-cli REST server',
    'down    report failures (true)',
    'up      report recoveries (true)',
  ],
  isNoop: isSwitchedOff,
  recipientOf: (config) => config.value,
  targetsOf: (config) => [config.url],
})

export const phoneKinds: readonly IntegrationKind[] = [sms, call, whatsapp, signal]
