import type { z } from 'zod'
import { type FieldError, validationError } from './errors.ts'

/** Unknown members that an error lists; who sends more has made one mistake, not thousands. */
const MAX_LISTED = 100

/** @throws ValidationError with one error per fault, each naming its member */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown, what = 'the body'): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw validationError(parsed.error.issues.flatMap((issue) => fieldErrors(issue, what)))
}

function fieldErrors(issue: z.core.$ZodIssue, what: string): FieldError[] {
  const path = pathText(issue.path)
  if (issue.code === 'invalid_union' && issue.path.length === 0) return closestErrors(issue.errors, what)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_LISTED).map((key) => {
      const member = pathText([...issue.path, key.slice(0, 100)])
      return { path: member, code: 'UNKNOWN_FIELD', message: `${member} is not a member of ${what}` }
    })
  }
  const reason: unknown = issue.code === 'custom' ? issue.params?.reason : undefined
  const code = typeof reason === 'string' ? reason : issue.code.toUpperCase()
  return [{ path, code, message: `${path || what}: ${issue.message}` }]
}

/** Of a body that has several forms: what is wrong with it as the first of those that know most of its members. */
function closestErrors(forms: readonly (readonly z.core.$ZodIssue[])[], what: string): FieldError[] {
  const unknown = (errors: readonly FieldError[]) => errors.filter(({ code }) => code === 'UNKNOWN_FIELD').length
  const [closest = []] = forms
    .map((issues) => issues.flatMap((issue) => fieldErrors(issue, what)))
    .toSorted((a, b) => unknown(a) - unknown(b))
  return closest
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${String(key)}`)).join('')
}
