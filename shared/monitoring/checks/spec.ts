import { MAX_CHANNELS_LENGTH, MAX_CHANNELS_PIECES } from './integrations-field.ts'
import { isSlug, MAX_NAME_LENGTH } from './slug.ts'

/** Characters of a description: it stands in every list and in every message. */
export const MAX_DESC_LENGTH = 10_000

/** A field by which a create request may find an existing check. */
type UniqueField = 'name' | 'slug' | 'tags' | 'timeout' | 'grace'

/** A valid create or update request. A member is there only when the request has it. */
export interface CheckSpec {
  /** to be resolved by channels-field.ts */
  channels?: string
  desc?: string
  failureKw?: string
  filterSubject?: boolean
  filterBody?: boolean
  filterHttpBody?: boolean
  filterDefaultFail?: boolean
  graceSeconds?: number
  manualResume?: boolean
  methods?: '' | 'POST'
  name?: string
  schedule?: string
  slug?: string
  startKw?: string
  /** deprecated: the success keywords of mail subjects */
  subject?: string
  /** deprecated: the failure keywords of mail subjects */
  subjectFail?: string
  successKw?: string
  tags?: string
  timeoutSeconds?: number
  /** the name to store: an old name is replaced already */
  tz?: string
  unique?: UniqueField[]
}

export interface SpecRules {
  /** whether the text is a usable cron or OnCalendar expression */
  isValidSchedule: (expression: string) => boolean
  /** the name to store for a zone; null when there is no such zone */
  resolveTimeZone: (name: string) => string | null
}

export type SpecResult = { ok: true; spec: CheckSpec } | { ok: false; error: string }

/**
 * Validates the body of create and update (docs/spec/monitoring.md#validation). Strict: nothing is converted, null is never
 * absence; unknown members are ignored. For `3600.0` to be refused the body must come from parseJsonBody.
 * @returns the text of the first error in the published order of fields, complete
 */
export function parseCheckSpec(body: Readonly<Record<string, unknown>>, rules: SpecRules): SpecResult {
  for (const [field, check] of FIELDS) {
    const value = body[field]
    const problem = value === undefined ? null : check(value, rules)
    if (problem !== null) return { ok: false, error: `json validation error: ${problem.replace('%', field)}` }
  }
  return { ok: true, spec: toSpec(body, rules) }
}

/** Says what is wrong with a value, `%` standing for the field; null when nothing is. */
type FieldRule = (value: unknown, rules: SpecRules) => string | null

function text(maxLength = Number.POSITIVE_INFINITY, further: FieldRule = () => null): FieldRule {
  return (value, rules) => {
    // PostgreSQL stores neither lone surrogates nor NUL.
    if (typeof value !== 'string' || !value.isWellFormed() || value.includes('\0')) return '% is not a string'
    if (value.length > maxLength && [...value].length > maxLength) return '% is too long'
    return further(value, rules)
  }
}

const isSlugText: FieldRule = (value) => (isSlug(String(value)) ? null : '% does not match pattern')
const isScheduleText: FieldRule = (value, rules) =>
  rules.isValidSchedule(String(value)) ? null : '% is not a valid cron or OnCalendar expression'
const isZoneName: FieldRule = (value, rules) =>
  rules.resolveTimeZone(String(value)) === null ? '% is not a valid timezone' : null

const hasFewPieces: FieldRule = (value) =>
  String(value).split(',', MAX_CHANNELS_PIECES + 1).length > MAX_CHANNELS_PIECES
    ? `% has more than ${MAX_CHANNELS_PIECES} items`
    : null

const flag: FieldRule = (value) => (typeof value === 'boolean' ? null : '% is not a boolean')

const seconds: FieldRule = (value) => {
  // true counts as the integer 1, which is too small; integers of hundreds of digits arrive as Infinity.
  const number = typeof value === 'boolean' ? Number(value) : value
  if (typeof number !== 'number' || (Number.isFinite(number) && !Number.isInteger(number))) return '% is not a number'
  if (number < 60) return '% is too small'
  return number > 31_536_000 ? '% is too large' : null
}

const methods: FieldRule = (value) => (value === '' || value === 'POST' ? null : '% has unexpected value')

const unique: FieldRule = (value) => {
  if (!Array.isArray(value)) return '% is not an array'
  return value.every(isUniqueField) ? null : "an item in '%' has unexpected value"
}

function isUniqueField(value: unknown): value is UniqueField {
  return value === 'name' || value === 'slug' || value === 'tags' || value === 'timeout' || value === 'grace'
}

const keywords = text(200)

/** In the order in which errors are reported. */
const FIELDS: readonly (readonly [string, FieldRule])[] = [
  ['channels', text(MAX_CHANNELS_LENGTH, hasFewPieces)],
  ['desc', text(MAX_DESC_LENGTH)],
  ['failure_kw', keywords],
  ['filter_subject', flag],
  ['filter_body', flag],
  ['filter_http_body', flag],
  ['filter_default_fail', flag],
  ['grace', seconds],
  ['manual_resume', flag],
  ['methods', methods],
  ['name', text(MAX_NAME_LENGTH)],
  ['schedule', text(100, isScheduleText)],
  ['slug', text(MAX_NAME_LENGTH, isSlugText)],
  ['start_kw', keywords],
  ['subject', keywords],
  ['subject_fail', keywords],
  ['success_kw', keywords],
  ['tags', text(500)],
  ['timeout', seconds],
  ['tz', text(Number.POSITIVE_INFINITY, isZoneName)],
  ['unique', unique],
]

/** The values are valid here; the narrowing only tells the compiler so. */
function toSpec(body: Readonly<Record<string, unknown>>, rules: SpecRules): CheckSpec {
  const spec: CheckSpec = {}
  if (typeof body.channels === 'string') spec.channels = body.channels
  if (typeof body.desc === 'string') spec.desc = body.desc
  if (typeof body.failure_kw === 'string') spec.failureKw = body.failure_kw
  if (typeof body.filter_subject === 'boolean') spec.filterSubject = body.filter_subject
  if (typeof body.filter_body === 'boolean') spec.filterBody = body.filter_body
  if (typeof body.filter_http_body === 'boolean') spec.filterHttpBody = body.filter_http_body
  if (typeof body.filter_default_fail === 'boolean') spec.filterDefaultFail = body.filter_default_fail
  if (typeof body.grace === 'number') spec.graceSeconds = body.grace
  if (typeof body.manual_resume === 'boolean') spec.manualResume = body.manual_resume
  if (body.methods === '' || body.methods === 'POST') spec.methods = body.methods
  if (typeof body.name === 'string') spec.name = body.name
  if (typeof body.schedule === 'string') spec.schedule = body.schedule
  if (typeof body.slug === 'string') spec.slug = body.slug
  if (typeof body.start_kw === 'string') spec.startKw = body.start_kw
  if (typeof body.subject === 'string') spec.subject = body.subject
  if (typeof body.subject_fail === 'string') spec.subjectFail = body.subject_fail
  if (typeof body.success_kw === 'string') spec.successKw = body.success_kw
  if (typeof body.tags === 'string') spec.tags = body.tags
  if (typeof body.timeout === 'number') spec.timeoutSeconds = body.timeout
  const zone = typeof body.tz === 'string' ? rules.resolveTimeZone(body.tz) : null
  if (zone !== null) spec.tz = zone
  if (Array.isArray(body.unique)) spec.unique = body.unique.filter(isUniqueField)
  return spec
}
