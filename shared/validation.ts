import type { z } from 'zod'
import type { FieldError } from './errors.ts'
import type { FieldCode } from './field-codes.ts'

/** `problem` follows the name of the member: "must be a string". */
export interface Fault {
  path: string
  code: FieldCode
  problem: string
}

type Checked<T> = { ok: true; value: T } | { ok: false; faults: Fault[] }

const MAX_LISTED = 100
const MAX_NAME = 100

/** Texts of the schema library never reach a fault. */
export function checkValue<Schema extends z.ZodType>(schema: Schema, value: unknown): Checked<z.output<Schema>> {
  // `error` is used for issues without a separate message; with `input`, an absent member differs from a wrong one.
  const parsed = schema.safeParse(value, { error: problemOf, reportInput: true })
  if (parsed.success) return { ok: true, value: parsed.data }
  return { ok: false, faults: parsed.error.issues.flatMap((issue) => faultsOf(issue, [])) }
}

/** `whole` names the value itself, for faults without a path. */
export function fieldErrors(faults: readonly Fault[], whole: string): FieldError[] {
  return faults.map(({ path, code, problem }) => ({ path, code, message: `${path || whole} ${problem}` }))
}

/** The problem follows the name of the member. */
export function rule(code: FieldCode, problem: string): { params: { code: FieldCode }; message: string } {
  return { params: { code }, message: problem }
}

/** `policy.steps[0].wait` */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`))
    .join('')
}

function faultsOf(issue: z.core.$ZodIssue, base: readonly PropertyKey[]): Fault[] {
  const keys = [...base, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_LISTED).map((key) => ({
      path: pathText([...keys, key.slice(0, MAX_NAME)]),
      code: 'UNKNOWN_FIELD' as const,
      problem: 'is not a known member',
    }))
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return unionFaults(issue.errors, keys)
  if (issue.code === 'invalid_key') {
    const [reason = 'is not valid'] = issue.issues.map(({ message }) => message)
    return [{ path: pathText(keys).slice(0, 2 * MAX_NAME), code: 'FORMAT', problem: `as a name ${reason}` }]
  }
  return [{ path: pathText(keys), code: codeOf(issue), problem: issue.message }]
}

type Issues = readonly z.core.$ZodIssue[]

/**
 * Uses the form that the value comes closest to: the right type first, then the fewest unknown members, then the
 * earliest form. Forms that fail as a whole are listed: "must be a string or a number".
 */
function unionFaults(forms: readonly Issues[], base: readonly PropertyKey[]): Fault[] {
  const path = pathText(base)
  const all = forms.map((issues) => issues.flatMap((issue) => faultsOf(issue, base)))
  const isOtherType = (faults: readonly Fault[]) => faults.some((fault) => fault.path === path && fault.code === 'TYPE')
  const sameType = all.filter((faults) => !isOtherType(faults))
  const candidates = sameType.length > 0 ? sameType : all
  const wholes = candidates.flatMap(([first, ...others]) => (first?.path === path && others.length === 0 ? first : []))
  const [whole] = wholes
  if (whole && wholes.length === candidates.length) {
    const problems = [...new Set(wholes.map(({ problem }) => problem))]
    return [{ ...whole, problem: problems.join(' or ').replaceAll(' or must be ', ' or ') }]
  }
  const unknown = (faults: readonly Fault[]) => faults.filter(({ code }) => code === 'UNKNOWN_FIELD').length
  const [closest = []] = candidates.toSorted((a, b) => unknown(a) - unknown(b))
  return closest
}

function codeOf(issue: z.core.$ZodIssue): FieldCode {
  if (issue.code === 'custom') return customCode(issue.params)
  if (issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union') {
    if (isAbsent(issue)) return 'REQUIRED'
    return issue.code === 'invalid_type' ? 'TYPE' : 'UNKNOWN_VALUE'
  }
  if (issue.code === 'too_big') return isCount(issue.origin) ? 'TOO_MANY' : 'TOO_LARGE'
  if (issue.code === 'too_small') return isCount(issue.origin) ? 'TOO_FEW' : 'TOO_SMALL'
  return 'FORMAT'
}

/** A rule without a code is about the form. */
function customCode(params: Record<string, unknown> | undefined): FieldCode {
  // Only `rule` writes this member.
  return (params?.code as FieldCode | undefined) ?? 'FORMAT'
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  null: 'null',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  date: 'a date YYYY-MM-DD',
  datetime: 'a date and time with an offset, for example 2026-05-01T09:30:00Z',
  email: 'an e-mail address',
  url: 'a URL',
}

function problemOf(issue: z.core.$ZodRawIssue): string {
  if (isAbsent(issue) && issue.code !== 'invalid_union') return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return choiceOf(issue.values)
    case 'invalid_union':
      return choiceOf(Array.isArray(issue.options) ? issue.options : [])
    case 'invalid_format':
      return formatProblem(issue)
    case 'too_big':
      return limitOf(issue, 'at most', 'below', issue.maximum)
    case 'too_small':
      return limitOf(issue, 'at least', 'above', issue.minimum)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return 'has unknown members'
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return 'is not valid'
  }
}

/** A discriminator is a member of the input of its issue. */
function isAbsent({ code, input, discriminator }: { code: string; input?: unknown; discriminator?: unknown }): boolean {
  if (code === 'invalid_type' || code === 'invalid_value') return input === undefined
  if (code !== 'invalid_union' || typeof discriminator !== 'string') return false
  return typeof input === 'object' && input !== null && !Object.hasOwn(input, discriminator)
}

function choiceOf(values: readonly unknown[]): string {
  if (values.length === 0) return 'is not valid'
  const list = values.map(String).join(', ')
  return values.length === 1 ? `must be ${list}` : `must be one of ${list}`
}

function formatProblem(issue: { format: string; pattern?: string | undefined }): string {
  const named = FORMATS[issue.format]
  if (named !== undefined) return `must be ${named}`
  return issue.pattern === undefined ? 'does not have the required form' : `must match ${issue.pattern}`
}

interface Limited {
  origin: string
  exact?: boolean | undefined
  inclusive?: boolean | undefined
}

function limitOf(issue: Limited, inclusive: string, exclusive: string, limit: number | bigint): string {
  const unit = unitOf(issue.origin)
  if (unit === null) return `must be ${issue.inclusive === false ? exclusive : inclusive} ${limit}`
  if (inclusive === 'at least' && Number(limit) === 1 && !issue.exact) return 'must not be empty'
  return `must have ${issue.exact ? 'exactly' : inclusive} ${limit} ${unit}${Number(limit) === 1 ? '' : 's'}`
}

function unitOf(origin: string): string | null {
  if (origin === 'string') return 'character'
  if (isCount(origin)) return origin === 'array' ? 'element' : 'member'
  return null
}

function isCount(origin: string): boolean {
  return origin === 'array' || origin === 'object' || origin === 'record'
}
