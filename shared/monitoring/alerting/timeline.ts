import { type Micros, toIsoSeconds } from '../../time.ts'
import { personLabel } from '../contacts/person-label.ts'
import { findKind } from '../integrations/kinds.ts'
import { decisionText } from './decision-text.ts'
import type { ShownIncident, TimelineRow } from './incident-page-view.ts'

export const ENTRY_KINDS = [
  'opened',
  'failure',
  'recovered',
  'resolved',
  'notified',
  'escalated',
  'suppressed',
  'acknowledged',
  'unacknowledged',
  'snoozed',
  'assigned',
  'merged',
  'unmerged',
  'note',
  'report',
  'coverage',
] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]

export interface TimelineEntry {
  at: Micros
  kind: EntryKind
  /** one sentence without a full stop; times are in `detail` */
  text: string
  by: string | null
  via: string | null
  /** name of the integration or person that was notified */
  target: string | null
  /** address of the assignee or of the notified person */
  person: string | null
  result: 'pending' | 'delivered' | 'failed' | 'suppressed' | null
  attempts: number | null
  detail: Readonly<Record<string, unknown>>
}

type TimelineOf = Pick<ShownIncident, 'downAt' | 'resolvedAt' | 'resolution'>

/** Converts loaded rows, oldest first. `isWhole` is false if later rows were not loaded. */
export function timelineEntries(rows: readonly TimelineRow[], incident: TimelineOf, isWhole: boolean): TimelineEntry[] {
  const failedAt = new Set(
    rows.flatMap(({ kind, detail, at }) => (kind === 'flip' && detail.reason === 'fail' ? [at] : [])),
  )
  const entries = rows.flatMap((row) => {
    // The flip of a failure states it already.
    if (row.kind === 'failure' && row.detail.exit == null && failedAt.has(row.at)) return []
    return entryOf(row, incident) ?? []
  })
  const { resolvedAt, resolution } = incident
  if (resolvedAt !== null && isWhole) {
    entries.push({ ...NONE, at: resolvedAt, kind: 'resolved', text: ENDS[resolution ?? 'recovered'] })
  }
  return entries.toSorted((a, b) => a.at - b.at)
}

const ENDS = {
  recovered: 'Resolved',
  paused: 'Resolved: the check was paused',
  ended: 'Resolved: the check was moved to another project',
} as const

const NONE = { by: null, via: null, target: null, person: null, result: null, attempts: null, detail: {} }

/** Returns null for rows that repeat another entry. */
function entryOf(row: TimelineRow, incident: TimelineOf): TimelineEntry | null {
  switch (row.kind) {
    case 'flip':
      return flipEntry(row, incident)
    case 'failure': {
      const exit = row.detail.exit
      const text = typeof exit === 'number' ? `Failed: exit ${exit}` : 'Failed: a failure was reported'
      return { ...NONE, at: row.at, kind: 'failure', text, detail: { exit: exit ?? null } }
    }
    case 'decision':
      return decisionEntry(row)
    case 'notification':
      return notificationEntry(row)
    case 'action':
      return actionEntry(row)
    case 'gap':
      return {
        ...NONE,
        at: row.at,
        kind: 'coverage',
        text: `Pings could not be received (${textOf(row, 'cause')})`,
        detail: { until: row.detail.until ?? null },
      }
  }
}

function flipEntry({ at, what, detail }: TimelineRow, { downAt }: TimelineOf): TimelineEntry {
  const { reason } = detail
  if (what !== 'down') return { ...NONE, at, kind: 'recovered', text: what === 'up' ? 'Up' : sentence(what) }
  const why = reason === 'fail' ? 'a failure was reported' : 'no ping in time'
  return { ...NONE, at, kind: 'opened', text: `Down${at > downAt ? ' again' : ''}: ${why}`, detail: { reason } }
}

/** Notifications are separate rows, so a decision to notify is shown only for a reason that such a row lacks. */
const RELEASES: ReadonlySet<string> = new Set(['WINDOW_ENDED', 'PARENT_UP', 'PARENT_CYCLE', 'FLAPPING'])

function decisionEntry(row: TimelineRow): TimelineEntry | null {
  const { at, what: outcome } = row
  const reason = textOf(row, 'reason')
  const inner = row.detail.detail
  const detail: Readonly<Record<string, string | number>> =
    typeof inner === 'object' && inner !== null ? { ...inner } : {}
  const why = decisionText({ outcome: '', reason, detail }).replace(/\.$/, '')
  const entry = { ...NONE, at, detail: { reason, ...detail, until: row.detail.until ?? null } }
  if (outcome === 'suppressed') {
    if (reason === 'ACKNOWLEDGED') return null
    return { ...entry, kind: 'suppressed', text: `${isPlanned(reason) ? 'Waiting' : 'Muted'}: ${why}` }
  }
  if (outcome === 'skipped' || (outcome === 'none' && reason !== 'JOINED'))
    return { ...entry, kind: 'suppressed', text: `Not notified: ${why}` }
  if (outcome !== 'notified') return null
  const step = `Step ${Number(detail.step ?? 0) + 1}`
  if (reason === 'STEP') return { ...entry, kind: 'escalated', text: `${step} was due` }
  if (reason === 'FIRST_STEP_FAILED') return { ...entry, kind: 'escalated', text: `${step} at once: ${why}` }
  if (reason === 'ESCALATED') return { ...entry, kind: 'escalated', text: `${step} at once` }
  if (reason === 'ACK_EXPIRED' || reason === 'SNOOZE_ENDED')
    return { ...entry, kind: 'unacknowledged', text: sentence(why) }
  return RELEASES.has(reason) ? { ...entry, kind: 'escalated', text: sentence(why) } : null
}

const PLANNED: ReadonlySet<string> = new Set(['FAILURES', 'DOWN_FOR', 'GROUPING', 'OUTSIDE_HOURS', 'RECOVERING'])
/** True for a delay that is part of the plan. */
export const isPlanned = (reason: string): boolean => PLANNED.has(reason)

const SUBJECTS: Readonly<Record<string, string>> = {
  recovery: ' of the recovery',
  ack: ' of the acknowledgement',
  flapping: ' of flapping',
}

function notificationEntry(row: TimelineRow): TimelineEntry {
  const { at, what, detail } = row
  const [name, error, kind] = [textOf(row, 'name'), textOf(row, 'error'), textOf(row, 'type')]
  const [seconds, attempts, size] = [
    Number(detail.seconds ?? 0),
    Number(detail.attempts ?? 0),
    Number(detail.size ?? 0),
  ]
  const number = typeof detail.step === 'number' && what !== 'recovery' ? `step ${detail.step + 1}` : ''
  const step = detail.reason === 'FALLBACK' ? 'fallback' : detail.reason === 'REASSIGNED' ? 'assigned' : number
  const about = [findKind(kind)?.label ?? kind, step, textOf(row, 'schedule')].filter((part) => part !== '').join(', ')
  const whom = `${name}${about && ` (${about})`}${SUBJECTS[what] ?? ''}${size > 1 ? ` together with ${size - 1} more` : ''}`
  const again = what === 'repeat' ? ' again' : ''
  const state = textOf(row, 'state')
  const texts = {
    pending: `Notifying ${whom}${again}${attempts > 0 ? `: attempt ${attempts} failed${error && `, ${error}`}` : ''}`,
    delivered: `Notified ${whom}${again}: delivered after ${seconds < 1 ? 'less than 1' : Math.round(seconds)} s`,
    failed: `Failed to notify ${whom}: ${error || 'no reason is known'}`,
    suppressed: `Not sent to ${whom}: ${error === '' || error === 'Superseded' ? 'no longer needed' : error}`,
  } as const
  const result = RESULTS.find((known) => known === state) ?? 'pending'
  return {
    ...NONE,
    at,
    kind: 'notified',
    text: texts[result],
    target: name,
    person: textOf(row, 'person') || null,
    result,
    attempts,
    detail: { what, channel: detail.channel ?? null, step: detail.step ?? null, error },
  }
}

const RESULTS = ['pending', 'delivered', 'failed', 'suppressed'] as const

function actionEntry(row: TimelineRow): TimelineEntry | null {
  const { at, what } = row
  const [by, via, text] = [textOf(row, 'by'), textOf(row, 'via'), textOf(row, 'text')]
  const label = personLabel(by, via, textOf(row, 'name'))
  const who = by === '' ? '' : by.startsWith('through ') ? ` ${by.replace('through ', 'via ')}` : ` by ${label}`
  const more = text && `: ${text}`
  const entry = { ...NONE, at, by, via }
  switch (what) {
    case 'ack':
      return { ...entry, kind: 'acknowledged', text: `Acknowledged${who}${more}`, detail: { note: text } }
    case 'snooze': {
      const until = row.detail.until ?? null
      return { ...entry, kind: 'snoozed', text: `Snoozed${who}${more}`, detail: { note: text, until } }
    }
    case 'take':
      return { ...entry, kind: 'acknowledged', text: `Taken by ${text}${by === text ? '' : who}`, person: text }
    case 'escalate':
      return { ...entry, kind: 'escalated', text: `Escalated${who}` }
    case 'unack':
      return { ...entry, kind: 'unacknowledged', text: `Acknowledgement removed${who}` }
    case 'assign':
      if (text === '') return { ...entry, kind: 'assigned', text: `Assignment removed${who}` }
      return { ...entry, kind: 'assigned', person: text, ...assignedText(`Assigned to ${text}${who}`, row) }
    case 'merge':
      return { ...entry, kind: 'merged', text: `Merged into "${text}"${who}` }
    case 'unmerge':
      return { ...entry, kind: 'unmerged', text: `Separated from "${text}"${who}` }
    case 'note':
      return { ...entry, kind: 'note', text: `Note${who}${more}`, detail: { note: text } }
    case 'report':
      return { ...entry, kind: 'report', text: `Report saved${who}` }
    default:
      return null
  }
}

/** `until` is the end of the wait for the notified person. */
function assignedText(text: string, { detail: { until } }: TimelineRow): Pick<TimelineEntry, 'text' | 'detail'> {
  if (until == null) return { text, detail: {} }
  return { text: `${text}: the person is notified, and the policy waits for an acknowledgement`, detail: { until } }
}

function textOf({ detail }: TimelineRow, name: string): string {
  const value = detail[name]
  return typeof value === 'string' ? value : ''
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const GROUPS = {
  notifications: ['opened', 'resolved', 'notified', 'escalated', 'suppressed'],
  people: ['acknowledged', 'unacknowledged', 'snoozed', 'assigned', 'merged', 'unmerged', 'note', 'report'],
} as const satisfies Record<string, readonly EntryKind[]>
export type EntryGroup = keyof typeof GROUPS

export function isOfGroup({ kind }: TimelineEntry, group: EntryGroup): boolean {
  const kinds: readonly EntryKind[] = GROUPS[group]
  return kinds.includes(kind)
}

export function timelineView({ at, ...entry }: TimelineEntry) {
  return { at: toIsoSeconds(at), ...entry }
}
