import { z } from 'zod'
import { isUp, phoneNumber } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const call = defineKind({
  kind: 'call',
  label: 'Phone call',
  schema: z.strictObject({ value: phoneNumber }),
  help: ['value   phone number, like +15550100; failures only'],
  isNoop: isUp,
})
