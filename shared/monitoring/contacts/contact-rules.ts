import { type Micros, microsOfSeconds } from '../../time.ts'
import {
  invalid,
  readList,
  readNumber,
  readObject,
  readRecurring,
  readText,
  refuseUnknown,
} from '../alerting/fields.ts'
import { beginOfRecurring, endOfRecurring } from '../alerting/plan.ts'
import type { RecurringTime, Severity } from '../alerting/policy.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import type { ContactKind } from './contact-kinds.ts'

export const MAX_ENTRIES = 10
export const MAX_QUIET = 7
const MAX_AFTER = 7_200

export interface RuleEntry {
  /** seconds after the policy step */
  after: number
  /** id of a contact method */
  method: string
}

export const RULE_LISTS = ['critical', 'other'] as const
export type RuleList = (typeof RULE_LISTS)[number]
export type ContactRules = Readonly<Record<RuleList, readonly RuleEntry[]>>

interface ShiftNotices {
  /** seconds before a shift */
  before: readonly number[]
  start: boolean
  end: boolean
}

export interface OnCallSettings {
  quiet: readonly RecurringTime[]
  notices: ShiftNotices
}

export const DEFAULT_SETTINGS: OnCallSettings = { quiet: [], notices: { before: [86_400], start: true, end: false } }

export interface UsableMethod {
  id: string
  kind: ContactKind
}

/** Seconds until a call, if the person has set no rules: the other messages can be read first. */
const CALL_AFTER = 300

export function listFor(severity: Severity): RuleList {
  return severity === 'critical' ? 'critical' : 'other'
}

/**
 * Returns the entries in force, by time. An empty `other` means `critical`; an empty `critical` means all usable methods.
 * Entries whose method is not usable are omitted, and no other method replaces them. An empty result means that the
 * person gets no message.
 */
export function entriesFor(rules: ContactRules, list: RuleList, methods: readonly UsableMethod[]): RuleEntry[] {
  if (list === 'other' && rules.other.length === 0) return entriesFor(rules, 'critical', methods)
  const everyMethod = methods.map(({ id, kind }) => ({ after: kind === 'call' ? CALL_AFTER : 0, method: id }))
  const entries = rules[list].length === 0 ? everyMethod : rules[list]
  const usable = new Set(methods.map(({ id }) => id))
  return entries.filter(({ method }) => usable.has(method)).toSorted((a, b) => a.after - b.after)
}

export interface SequenceEntry extends RuleEntry {
  dueAt: Micros
  /** true if the person's quiet hours delayed it */
  isDelayed: boolean
  /** true if an earlier entry is sent at the same instant instead */
  isJoined: boolean
}

interface SequenceInput {
  entries: readonly RuleEntry[]
  severity: Severity
  quiet: readonly RecurringTime[]
  /** when the policy step notified the person */
  startAt: Micros
}

/**
 * Returns the notifications that one person gets about one incident. A notification that falls into quiet hours is
 * delayed to their end, unless the incident is critical. Entries delayed to one instant are joined to the first.
 */
export function expandRules({ entries, severity, quiet, startAt }: SequenceInput): SequenceEntry[] {
  const list = listFor(severity)
  const expanded = entries.map((entry) => {
    const planned = startAt + microsOfSeconds(entry.after)
    const dueAt = list === 'critical' ? planned : endOfQuiet(quiet, planned)
    return { ...entry, dueAt, isDelayed: dueAt > planned }
  })
  const seen = new Set<string>()
  return expanded
    .toSorted((a, b) => a.dueAt - b.dueAt || a.after - b.after)
    .map((entry) => {
      const { method, dueAt, isDelayed } = entry
      const key = isDelayed ? `${dueAt}` : `${dueAt} ${method}`
      const isJoined = seen.has(key)
      seen.add(key)
      return { ...entry, isJoined }
    })
}

/** The longest delay of a message, if quiet hours have no end. */
const MAX_DELAY: Micros = microsOfSeconds(604_800)

/** Returns the first instant from `at` that is not quiet, or a week after `at` if there is none before. */
export function endOfQuiet(quiet: readonly RecurringTime[], at: Micros): Micros {
  let end = at
  while (end < at + MAX_DELAY) {
    const next = endOfRecurring(quiet, end)
    if (next === null || next <= end) return end
    end = next
  }
  return at + MAX_DELAY
}

/** Returns the beginning of the quiet hours that contain `at`. Returns `at` if it is not quiet, or has been for a week. */
export function startOfQuiet(quiet: readonly RecurringTime[], at: Micros): Micros {
  let start = at
  for (let begin = beginOfRecurring(quiet, at); begin !== null; begin = beginOfRecurring(quiet, start - 1)) {
    if (begin <= at - MAX_DELAY) return at
    start = begin
  }
  return start
}

/** Returns the entries of one list of a form. @throws ValidationError */
export function readEntries(value: JsonValue | undefined, path: string, methods: readonly string[]): RuleEntry[] {
  const entries = readList(value, path, { max: MAX_ENTRIES }).map((item, index) => {
    const entry = readObject(item, `${path}[${index}]`)
    const after = readNumber(entry.after, `${path}[${index}].after`, { min: 0, max: MAX_AFTER, unit: 'seconds' })
    const method = readText(entry.method, `${path}[${index}].method`, { max: 36 })
    if (!methods.includes(method)) throw invalid(`${path}[${index}].method`, 'must be one of your contact methods')
    refuseUnknown(entry, `${path}[${index}]`, ['after', 'method'])
    return { after, method }
  })
  const keys = entries.map(({ after, method }) => `${after} ${method}`)
  const repeated = keys.findIndex((key, index) => keys.indexOf(key) < index)
  if (repeated >= 0) throw invalid(`${path}[${repeated}]`, 'repeats another entry')
  return entries.toSorted((a, b) => a.after - b.after)
}

/** @throws ValidationError */
export function readOnCallSettings(body: JsonObject): OnCallSettings {
  const quiet = readList(body.quiet, 'quiet', { max: MAX_QUIET }).map((time, index) =>
    readRecurring(time, `quiet[${index}]`),
  )
  const notices = readObject(body.notices, 'notices')
  const before = readList(notices.before, 'notices.before', { max: 4 }).map((item, index) =>
    readNumber(item, `notices.before[${index}]`, { min: 300, max: 604_800, unit: 'seconds' }),
  )
  refuseUnknown(notices, 'notices', ['before', 'start', 'end'])
  const times = [...new Set(before)].toSorted((a, b) => b - a)
  return { quiet, notices: { before: times, start: notices.start === true, end: notices.end === true } }
}
