import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import type { LoanEvent, MappedRecord, Mapping, Target } from './mapping.ts'
import { transformed } from './transforms.ts'

export interface SourceRecord {
  body: JsonObject
  headers: Readonly<Record<string, string | undefined>>
}

export interface Mapped {
  /** normalised; null without one */
  sourceEvent: string | null
  record: MappedRecord | null
  /** why `record` is null */
  reason: 'EVENT_UNKNOWN' | 'LOAN_MISSING' | null
  /** only their hashes are published */
  eventId: string | null
  dealId: string | null
  loanRef: string | null
}

const MAX_UNMAPPED = 200
const MAX_NAME = 200
const MAX_LEVELS = 8

export function recognise(mappings: readonly Mapping[], source: SourceRecord): Mapping | undefined {
  return mappings.find(({ recognisedBy }) => recognisedBy.every((path) => valueAt(source, path) !== undefined))
}

/** Missing and unreadable values are null, never zero. */
export function mapRecord(mapping: Mapping, source: SourceRecord): Mapped {
  const sourceEvent = eventNameOf(mapping, source)
  const eventType = sourceEvent === null ? undefined : mapping.event.becomes[sourceEvent]
  const used = new Set<string>(mapping.event.from)
  const values = readFields(mapping, source, eventType, used)
  const text = (target: Target) => asText(values.get(target))
  const number = (target: Target) => asNumber(values.get(target))
  const loanRef = text('loanRef')
  const references = { sourceEvent, eventId: text('eventId'), dealId: text('dealId'), loanRef }
  if (!eventType) return { ...references, record: null, reason: 'EVENT_UNKNOWN' }
  if (loanRef === null) return { ...references, record: null, reason: 'LOAN_MISSING' }
  const record: MappedRecord = {
    eventType,
    occurredAt: text('occurredAt'),
    amounts: {
      principal: number('amounts.principal'),
      interest: number('amounts.interest'),
      outstanding: number('amounts.outstanding'),
    },
    dpd: number('dpd'),
    share: { lender: number('share.lender'), colender: number('share.colender') },
    tier: 'LENDER_SIDE',
    unmapped: unusedNames(source.body, used),
  }
  return { ...references, record, reason: null }
}

/** `Loan Approved`, `LOAN_APPROVED` and `loan.approved` have one name. */
function eventNameOf({ event }: Mapping, source: SourceRecord): string | null {
  const parts = event.from.map((path) => valueAt(source, path))
  if (!parts.every((part) => typeof part === 'string')) return null
  const name = parts
    .join('.')
    .trim()
    .toLowerCase()
    .replace(/[\s._-]+/g, '.')
  return name === '' ? null : name.slice(0, MAX_NAME)
}

function readFields(
  mapping: Mapping,
  source: SourceRecord,
  event: LoanEvent | undefined,
  used: Set<string>,
): Map<Target, string | number> {
  const values = new Map<Target, string | number>()
  for (const { target, from, transform, only } of mapping.fields) {
    if (values.has(target) || (only && (!event || !only.includes(event)))) continue
    for (const path of from) {
      const value = transformed(transform, valueAt(source, path))
      if (value === undefined) continue
      values.set(target, value)
      used.add(path)
      break
    }
  }
  return values
}

function valueAt(source: SourceRecord, path: string): JsonValue | undefined {
  if (path.startsWith('@')) return source.headers[path.slice(1)]
  let value: JsonValue | undefined = source.body
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    value = Object.hasOwn(value, name) ? value[name] : undefined
  }
  return value
}

/** Paths to leaves, in the order of the record. */
function unusedNames(body: JsonObject, used: ReadonlySet<string>): string[] {
  const names: string[] = []
  const walk = (object: JsonObject, prefix: string, level: number) => {
    for (const [name, value] of Object.entries(object)) {
      if (names.length >= MAX_UNMAPPED) return
      const path = `${prefix}${name}`
      if (used.has(path)) continue
      if (typeof value === 'object' && value !== null && !Array.isArray(value) && level < MAX_LEVELS) {
        walk(value, `${path}.`, level + 1)
      } else names.push(path.slice(0, MAX_NAME).toWellFormed())
    }
  }
  walk(body, '', 1)
  return names
}

function asText(value: string | number | undefined): string | null {
  return value === undefined ? null : String(value)
}

function asNumber(value: string | number | undefined): number | null {
  return typeof value === 'number' ? value : null
}
