import { z } from 'zod'
import { emailAddress, isSwitchedOff, switches } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const email = defineKind({
  kind: 'email',
  label: 'E-mail',
  schema: z.strictObject({ value: emailAddress, ...switches }),
  help: ['value   one e-mail address', 'down    report failures (true)', 'up      report recoveries (true)'],
  isNoop: isSwitchedOff,
  recipientOf: (config) => config.value.toLowerCase(),
})
