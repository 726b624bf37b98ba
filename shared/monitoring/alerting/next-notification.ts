import type { Micros } from '../../time.ts'
import type { ShownIncident } from './incident-page-view.ts'
import { broughtForward, endOfRecurring, entryOffset, nextRecurring } from './plan.ts'
import { isAtLeast, type Plan, type Severity, type Step, stepOffsets } from './policy.ts'

/** The message that comes next if nothing changes until then. */
export interface NextNotification {
  at: Micros
  /** uuids; null: the check's own integrations */
  channels: readonly (string | null)[]
  /** it was said before, by the same step */
  isRepeat: boolean
}

type NotifiedState = Pick<
  ShownIncident,
  'state' | 'alertAt' | 'notified' | 'skipped' | 'firstStep' | 'suppression' | 'severity'
>

/**
 * What the plan of an open incident says next: when, and to whom. Of entries outside of hours that leave them out the first
 * inside is looked for, among so many.
 * @returns null when the plan has not begun, is held, or has nothing more to say
 */
export function nextNotification(
  { state, alertAt, notified, suppression, severity, ...skip }: NotifiedState,
  plan: Plan,
): NextNotification | null {
  const isSuppressed = suppression !== null && suppression !== 'OUTSIDE_HOURS' && suppression !== 'GROUPING'
  if (state !== 'alerting' || alertAt === null || isSuppressed) return null
  const offsets = stepOffsets(plan)
  const coming = plan.steps.flatMap((step, index) => {
    const begin = alertAt - broughtForward(index, skip)
    const next = nextOf(step, severity, { begin, offset: offsets[index] ?? 0, spoken: notified[index] ?? 0 })
    return next ? [{ ...next, channels: step.channels }] : []
  })
  if (coming.length === 0) return null
  const at = Math.min(...coming.map((next) => next.at))
  const first = coming.filter((next) => next.at === at)
  const channels = new Set(first.flatMap((next): readonly (string | null)[] => next.channels ?? [null]))
  return { at, channels: [...channels], isRepeat: first.every(({ isRepeat }) => isRepeat) }
}

/** Entries of a step that are tried for one within its hours. */
const MAX_RETRIED = 1_000

function nextOf(
  step: Step,
  severity: Severity,
  { begin, offset, spoken }: { begin: Micros; offset: Micros; spoken: number },
): { at: Micros; isRepeat: boolean } | null {
  if (!isAtLeast(severity, step.severity)) return null
  for (let entry = spoken; entry < spoken + MAX_RETRIED; entry++) {
    const passed = entryOffset(step, offset, entry)
    if (passed === null) return null
    const at = begin + passed
    const isRepeat = entry > 0
    if (step.hours.length === 0 || endOfRecurring(step.hours, at) !== null) return { at, isRepeat }
    if (step.outside === 'wait') return { at: nextRecurring(step.hours, at) ?? at, isRepeat }
  }
  return null
}
