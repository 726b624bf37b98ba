import type { Knex } from 'knex'
import { gapsSince, listenersOf } from '#shared/monitoring/availability/gap-store.ts'
import { findOpenUnknown, type OpenUnknown } from '#shared/monitoring/availability/unknown-period-store.ts'
import type { Check, ShownStatus } from '#shared/monitoring/checks/check.ts'
import { merged } from '#shared/monitoring/maintenance/spans.ts'
import { listUnknown } from '#shared/monitoring/maintenance/uptime-store.ts'
import type { WindowTime } from '#shared/monitoring/maintenance/window.ts'
import type { Micros } from '#shared/time.ts'
import { Exact } from '../../shell/basics.tsx'

/** Unknown periods of a check, which coverage gaps caused (docs/spec/alerting.md#unknown-time). */
export interface UnknownTime {
  /** merged */
  spans: readonly WindowTime[]
  /** null after the next ping, or once the outcome is known */
  open: OpenUnknown | null
  /** coverage gaps, also without effect on the check; a current one ends now */
  gaps: readonly WindowTime[]
}

/** @param from start of the period */
export async function loadUnknown(db: Knex, check: Pick<Check, 'id'>, from: Micros, now: Micros): Promise<UnknownTime> {
  const [spans, open, gaps, listeners] = await Promise.all([
    listUnknown(db, check.id, from, now),
    findOpenUnknown(db, check.id),
    gapsSince(db, from),
    listenersOf(db, [check.id]),
  ])
  const ours = gaps.filter(({ listener, from: begin }) => listener === listeners.get(check.id) && begin < now)
  const coverageGaps = merged(ours.map((gap) => ({ from: gap.from, until: Math.min(gap.until ?? now, now) })))
  return { spans: merged(spans), open, gaps: coverageGaps }
}

/** Shows the signal that was expected during a gap, and the next one. Renders nothing while the check is down. */
export function UnknownNote({ unknown: { open }, status }: { unknown: UnknownTime; status: ShownStatus }) {
  if (open === null || status === 'down') return null
  const { expectedAt, nextAt, reason } = open
  return (
    <p>
      Unknown: expected at <Exact at={expectedAt} isNamed />,{' '}
      {reason === 'GAP' ? 'during an outage on our side' : 'but its ping was refused because of an error on our side'}.
      {nextAt !== null && (
        <>
          {' '}
          Next chance: <Exact at={nextAt} isNamed />.
        </>
      )}
    </p>
  )
}
