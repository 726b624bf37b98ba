import { z } from 'zod'
import { isSwitchedOff, phoneNumber, switches } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const sms = defineKind({
  kind: 'sms',
  label: 'SMS',
  schema: z.strictObject({ value: phoneNumber, ...switches }),
  help: ['value   phone number, like +15550100', 'down    report failures (true)', 'up      report recoveries (true)'],
  isNoop: isSwitchedOff,
})
