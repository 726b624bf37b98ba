import type { z } from 'zod'
import { validationError } from './errors.ts'
import { checkValue, fieldErrors } from './validation.ts'

/** @throws ValidationError with one error per fault, each naming its member */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown, what = 'the body'): T {
  const checked = checkValue(schema, value)
  if (checked.ok) return checked.value
  throw validationError(fieldErrors(checked.faults, what))
}
