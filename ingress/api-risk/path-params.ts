import { validationError } from '#shared/errors.ts'
import type { FieldCode } from '#shared/field-codes.ts'
import { DEFAULT_WAIT_MS } from '#shared/jobs/job.ts'
import { identifierProblem } from '#shared/risk/identifiers/identifier.ts'
import { isUuid } from '#shared/uuid.ts'
import type { PathParam } from '../route.ts'

/** Matches everything without a slash, so that a malformed value is refused by name after authentication, not as another path. */
const ANY = '[^/]{1,300}'

export function idParam(description: string): PathParam {
  return {
    pattern: ANY,
    description,
    example: '6f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33',
    schema: { format: 'uuid' },
    fault: (text) => (isUuid(text) ? null : { code: 'FORMAT', message: 'must be a UUID in lower case' }),
  }
}

/** Declares another identifier in a path. @param message follows the name */
export function formParam(form: RegExp, message: string, { description, example }: Named): PathParam {
  return {
    pattern: ANY,
    description,
    example,
    schema: { pattern: form.source },
    fault: (text) => (form.test(text) ? null : { code: 'FORMAT', message }),
  }
}

/** Declares an identifier with rules. @param faultOf returns the code of the rule that a value breaks */
export function checkedParam(faultOf: (text: string) => FieldCode | null, { description, example }: Named): PathParam {
  return {
    pattern: ANY,
    description,
    example,
    fault(text) {
      const code = faultOf(text)
      return code === null ? null : { code, message: identifierProblem(code) }
    },
  }
}

type Named = Pick<PathParam, 'description' | 'example'>

/** @throws ValidationError that names each malformed parameter of a path */
export function checkParams(
  params: Readonly<Record<string, PathParam>>,
  values: Readonly<Record<string, string>>,
): void {
  const errors = Object.entries(params).flatMap(([path, { fault }]) => {
    const found = fault?.(values[path] ?? '')
    return found ? [{ path, code: found.code, message: `${path} ${found.message}` }] : []
  })
  if (errors.length > 0) throw validationError(errors)
}

/** Returns true if a malformed parameter can be refused, which the responses then document. */
export function hasFaults(params: Readonly<Record<string, PathParam>>): boolean {
  return Object.values(params).some(({ fault }) => fault !== undefined)
}

/** The wait that a caller prefers (RFC 7240). `applied` is the value of Preference-Applied; null without a preference. */
export interface WaitPreference {
  waitMs: number
  applied: string | null
}

const MAX_WAIT_SECONDS = 25

/**
 * Reads `Prefer`: `wait=N` waits at most 25 s, `respond-async` alone does not wait, and both wait for N seconds
 * (RFC 7240 section 4.3). Other preferences are ignored.
 */
export function readPreference(prefer: string | string[] | undefined): WaitPreference {
  const preferences = String(prefer ?? '')
    .split(',')
    .map((item) => item.split(';', 1)[0]?.trim().toLowerCase() ?? '')
  const isAsync = preferences.includes('respond-async')
  const wait = preferences.map((item) => /^wait\s*=\s*"?([0-9]{1,6})"?$/.exec(item)?.[1]).find(Boolean)
  if (wait === undefined) {
    return isAsync ? { waitMs: 0, applied: 'respond-async' } : { waitMs: DEFAULT_WAIT_MS, applied: null }
  }
  const seconds = Math.min(Number(wait), MAX_WAIT_SECONDS)
  return { waitMs: seconds * 1000, applied: `${isAsync ? 'respond-async, ' : ''}wait=${seconds}` }
}
