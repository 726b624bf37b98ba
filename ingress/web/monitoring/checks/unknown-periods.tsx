import type { Knex } from 'knex'
import { gapsSince, listenersOf } from '#shared/monitoring/availability/gap-store.ts'
import { findOpenUnknown, type OpenUnknown } from '#shared/monitoring/availability/unknown-period-store.ts'
import type { Check, ShownStatus } from '#shared/monitoring/checks/check.ts'
import { merged } from '#shared/monitoring/maintenance/spans.ts'
import { listUnknown } from '#shared/monitoring/maintenance/uptime-store.ts'
import type { WindowTime } from '#shared/monitoring/maintenance/window.ts'
import type { Micros } from '#shared/time.ts'
import { Exact } from '../../shell/basics.tsx'

/** Time in which the status of a check is unknown, because its pings may be lost (docs/spec/alerting.md#unknown-time). */
export interface UnknownTime {
  /** merged */
  spans: readonly WindowTime[]
  /** the period that has not ended; null if there is none */
  open: OpenUnknown | null
  /** coverage gaps of the check's listener, even without effect on the check; one that continues has `until` = now */
  gaps: readonly WindowTime[]
}

/** @param from start of the shown time */
export async function loadUnknown(db: Knex, check: Pick<Check, 'id'>, from: Micros, now: Micros): Promise<UnknownTime> {
  const [spans, open, gaps, listeners] = await Promise.all([
    listUnknown(db, check.id, from, now),
    findOpenUnknown(db, check.id),
    gapsSince(db, from),
    listenersOf(db, [check.id]),
  ])
  const gapsOfListener = gaps.filter(({ listener, from: begin }) => listener === listeners.get(check.id) && begin < now)
  const coverageGaps = merged(gapsOfListener.map((gap) => ({ from: gap.from, until: Math.min(gap.until ?? now, now) })))
  return { spans: merged(spans), open, gaps: coverageGaps }
}

/** Shows when a lost ping was expected, and the next deadline. Renders nothing while the check is down. */
export function UnknownNote({ unknown: { open }, status }: { unknown: UnknownTime; status: ShownStatus }) {
  if (open === null || status === 'down') return null
  const { expectedAt, nextAt, reason } = open
  return (
    <p>
      Status unknown: a ping was expected at <Exact at={expectedAt} isNamed />,{' '}
      {reason === 'GAP' ? 'during an outage on our side' : 'but it was refused because of an error on our side'}.
      {nextAt !== null && (
        <>
          {' '}
          Next deadline: <Exact at={nextAt} isNamed />.
        </>
      )}
    </p>
  )
}
