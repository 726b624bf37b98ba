import { type Micros, microsOfSeconds } from '../../time.ts'
import type { ShownIncident } from './incident-page-view.ts'
import { broughtForward, endOfRecurring, entryOffset, nextRecurring } from './plan.ts'
import {
  IMPLICIT_PLAN,
  isAtLeast,
  type Plan,
  type Severity,
  type Step,
  type StepTarget,
  stepOffsets,
  usesOwn,
  usesPeople,
} from './policy.ts'
import type { PendingReason } from './reasons.ts'

export interface NextNotification {
  at: Micros
  /** uuids; null: the check's own integrations */
  integrations: readonly (string | null)[]
  people: readonly StepTarget[]
  isRepeat: boolean
}

/** Window in which the check is silent now, whether or not its incident was evaluated since. */
export interface SilentWindow {
  isMute: boolean
  until: Micros
}

export type Outlook =
  | { kind: 'acknowledged'; until: Micros | null }
  | { kind: 'suppressed'; reason: PendingReason }
  | ({ kind: 'silent' } & SilentWindow)
  | ({ kind: 'next' } & NextNotification)
  /** of the rules of the people that were notified */
  | { kind: 'personal'; at: Micros }
  | { kind: 'exhausted' }
  | { kind: 'none' }

export const NO_FURTHER = 'No further notification'

/** Returns what follows for an open incident, in the same way on all pages. `plan` is that of its policy. */
export function outlookOf(
  incident: NotifiedState & Pick<ShownIncident, 'isDirect' | 'ackUntil' | 'nextAt'>,
  plan: Plan | null,
  window: SilentWindow | null,
): Outlook {
  const { state, suppression, isDirect, nextAt } = incident
  if (state === 'acknowledged') return { kind: 'acknowledged', until: incident.ackUntil }
  const next = isDirect ? null : nextNotification(incident, plan ?? IMPLICIT_PLAN)
  const isInWindow = window !== null && suppression === 'MAINTENANCE'
  if (suppression !== null && !next && !isInWindow) return { kind: 'suppressed', reason: suppression }
  if (window && (next === null || next.at < window.until)) return { kind: 'silent', ...window }
  if (next) return { kind: 'next', ...next }
  if (isDirect || incident.isExhausted) return { kind: 'exhausted' }
  // A plan without people waits too if a person was notified of an assignment.
  const isWaiting = incident.alertAt !== null && incident.exhaustedAt === null
  if (nextAt !== null && (isWaiting || (plan && usesPeople(plan)))) return { kind: 'personal', at: nextAt }
  return { kind: incident.notified.some((entries) => entries > 0) ? 'exhausted' : 'none' }
}

export type NotifiedState = Pick<
  ShownIncident,
  'state' | 'alertAt' | 'notified' | 'skips' | 'suppression' | 'severity'
> &
  Pick<ShownIncident, 'exhaustedAt' | 'isExhausted'>

/**
 * Passes over entries outside the hours of their step, up to MAX_RETRIED per step. Returns null if the plan has not
 * begun, is suppressed, or has no further entries.
 */
export function nextNotification(
  { state, alertAt, notified, suppression, severity, exhaustedAt, isExhausted, ...skip }: NotifiedState,
  plan: Plan,
): NextNotification | null {
  const isSuppressed = suppression !== null && suppression !== 'OUTSIDE_HOURS' && suppression !== 'GROUPING'
  if (state !== 'alerting' || alertAt === null || isSuppressed) return null
  const offsets = stepOffsets(plan)
  const coming = plan.steps.flatMap((step, index) => {
    const begin = alertAt - broughtForward(index, skip)
    const next = nextOf(step, severity, { begin, offset: offsets[index] ?? 0, sent: notified[index] ?? 0 })
    return next ? [{ ...next, step }] : []
  })
  if (coming.length === 0) {
    const { fallback } = plan
    if (!fallback || exhaustedAt === null || isExhausted) return null
    const at = exhaustedAt + microsOfSeconds(fallback.wait)
    return { at, integrations: fallback.channels, people: fallback.people, isRepeat: false }
  }
  const at = Math.min(...coming.map((next) => next.at))
  const first = coming.filter((next) => next.at === at)
  const integrations = new Set(
    first.flatMap(({ step }): readonly (string | null)[] => [
      ...(step.channels ?? []),
      ...(usesOwn(step) ? [null] : []),
    ]),
  )
  const people = first.flatMap(({ step }) => step.people)
  return { at, integrations: [...integrations], people, isRepeat: first.every(({ isRepeat }) => isRepeat) }
}

const MAX_RETRIED = 1_000

function nextOf(
  step: Step,
  severity: Severity,
  { begin, offset, sent }: { begin: Micros; offset: Micros; sent: number },
): { at: Micros; isRepeat: boolean } | null {
  if (!isAtLeast(severity, step.severity)) return null
  for (let entry = sent; entry < sent + MAX_RETRIED; entry++) {
    const passed = entryOffset(step, offset, entry)
    if (passed === null) return null
    const at = begin + passed
    const isRepeat = entry > 0
    if (step.hours.length === 0 || endOfRecurring(step.hours, at) !== null) return { at, isRepeat }
    if (step.outside === 'wait') return { at: nextRecurring(step.hours, at) ?? at, isRepeat }
  }
  return null
}
