import { CHECK_FIELDS, entriesOf, keywords, type SettingsOf } from './fields.ts'
import { accepted, type Reading, refused, type SpecRules, text } from './formats.ts'
import { MAX_INTEGRATIONS_LENGTH, MAX_INTEGRATIONS_PIECES } from './integrations-field.ts'

/** API members by which a create request may find an existing check. */
export const UNIQUE_FIELDS = ['name', 'slug', 'tags', 'timeout', 'grace'] as const
type UniqueField = (typeof UNIQUE_FIELDS)[number]

const { kind: _, ...requestedSettings } = CHECK_FIELDS

const REQUEST_FIELDS = {
  ...requestedSettings,
  channels: { api: 'channels', ...text(MAX_INTEGRATIONS_LENGTH, limitPieces) },
  /** deprecated: success keywords of mail subjects */
  subject: { api: 'subject', ...keywords },
  /** deprecated: failure keywords of mail subjects */
  subjectFail: { api: 'subject_fail', ...keywords },
  unique: { api: 'unique', read: readUnique },
}

type RequestedFields = SettingsOf<typeof REQUEST_FIELDS>

export type CheckSpec = Partial<RequestedFields>

export type SpecResult = { ok: true; spec: CheckSpec } | { ok: false; error: string }

/**
 * Ignores unknown members (docs/spec/monitoring.md#validation). The body must come from parseJsonBody, so that
 * `3600.0` is refused. Returns the text of the first error, in the published order of fields.
 */
export function parseCheckSpec(body: Readonly<Record<string, unknown>>, rules: SpecRules): SpecResult {
  const spec: CheckSpec = {}
  for (const name of READING_ORDER) {
    const problem = readInto(spec, name, body, rules)
    if (problem !== null) return { ok: false, error: `json validation error: ${problem}` }
  }
  return { ok: true, spec }
}

function readInto<Name extends keyof RequestedFields>(
  spec: CheckSpec,
  name: Name,
  body: Readonly<Record<string, unknown>>,
  rules: SpecRules,
): string | null {
  const field: RequestField<RequestedFields[Name]> = READERS[name]
  const value = body[field.api]
  if (value === undefined) return null
  const reading = field.read(value, rules)
  if (!reading.ok) return reading.problem.replace('%', field.api)
  spec[name] = reading.value
  return null
}

interface RequestField<Value> {
  api: string
  read(value: unknown, rules: SpecRules): Reading<Value>
}

const READERS: { [Name in keyof RequestedFields]: RequestField<RequestedFields[Name]> } = REQUEST_FIELDS

/** Alphabetical by API name; the filters are in the order of fields.ts. */
const READING_ORDER = entriesOf(REQUEST_FIELDS)
  .map(([name, { api }]) => ({ name, rank: api.replace(/^filter_.*/, 'filter_') }))
  .toSorted((a, b) => (a.rank < b.rank ? -1 : Number(a.rank > b.rank)))
  .map(({ name }) => name)

function limitPieces(value: string): Reading<string> {
  const isWithin = value.split(',', MAX_INTEGRATIONS_PIECES + 1).length <= MAX_INTEGRATIONS_PIECES
  return isWithin ? accepted(value) : refused(`% has more than ${MAX_INTEGRATIONS_PIECES} items`)
}

function readUnique(value: unknown): Reading<UniqueField[]> {
  if (!Array.isArray(value)) return refused('% is not an array')
  return value.every(isUniqueField) ? accepted(value) : refused("an item in '%' has unexpected value")
}

function isUniqueField(value: unknown): value is UniqueField {
  return UNIQUE_FIELDS.some((field) => field === value)
}
