import type { Micros } from '../../time.ts'
import type { ShownIncident } from './incident-page-view.ts'
import { broughtForward, endOfRecurring, entryOffset, nextRecurring } from './plan.ts'
import { isAtLeast, type Plan, type Severity, type Step, stepOffsets } from './policy.ts'

export interface NextNotification {
  at: Micros
  /** uuids; null: the check's own integrations */
  integrations: readonly (string | null)[]
  isRepeat: boolean
}

type NotifiedState = Pick<ShownIncident, 'state' | 'alertAt' | 'notified' | 'skips' | 'suppression' | 'severity'>

/**
 * Passes over entries outside the hours of their step, up to MAX_RETRIED per step. Returns null if the plan has not
 * begun, is suppressed, or has no further entries.
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
    const next = nextOf(step, severity, { begin, offset: offsets[index] ?? 0, sent: notified[index] ?? 0 })
    return next ? [{ ...next, channels: step.channels }] : []
  })
  if (coming.length === 0) return null
  const at = Math.min(...coming.map((next) => next.at))
  const first = coming.filter((next) => next.at === at)
  const integrations = new Set(first.flatMap((next): readonly (string | null)[] => next.channels ?? [null]))
  return { at, integrations: [...integrations], isRepeat: first.every(({ isRepeat }) => isRepeat) }
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
