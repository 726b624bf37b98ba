import { z } from 'zod'
import { isSwitchedOff, singleLine, switches } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const apprise = defineKind({
  kind: 'apprise',
  label: 'Apprise',
  // Apprise addresses carry tokens and passwords.
  schema: z.strictObject({
    value: singleLine(1000).refine((url) => url.includes('://'), 'is no Apprise URL'),
    ...switches,
  }),
  secretFields: ['value'],
  help: [
    'value   Apprise URL, like tgram://token/chat (secret)',
    'down    report failures (true)',
    'up      report recoveries (true)',
  ],
  isNoop: isSwitchedOff,
})
