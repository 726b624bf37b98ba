import { z } from 'zod'
import { baseUrl, isSwitchedOff, phoneNumber, switches, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

/** Through a signal-cli REST server of one's own. A recipient may also be a `group.` id of that server. */
export const signal = defineKind({
  kind: 'signal',
  label: 'Signal',
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
    'url     address of the signal-cli REST server',
    'down    report failures (true)',
    'up      report recoveries (true)',
  ],
  isNoop: isSwitchedOff,
  recipientOf: (config) => config.value,
  targetsOf: (config) => [config.url],
})
