import { ALL_SHARDS, type Gap } from '#shared/monitoring/availability/unavailable.ts'
import { sweepOverdue, sweepPages } from '#shared/monitoring/checks/overdue-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { microsOfSeconds, nowMicros } from '#shared/time.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

/**
 * Measures very many checks whose pings were expected in one coverage gap: all deadlines are extended, and no check
 * goes down (docs/spec/alerting.md#alerting-bounds).
 */
export async function benchDeadlineExtensions({ checks, overdue }: { checks: number; overdue: number }): Promise<Row> {
  await using stack = await openBenchStack()
  const { db } = stack
  await addChecks(db, checks)
  const share = Math.round(checks / overdue)
  await db.raw(
    `UPDATE checks SET status = 'up', last_ping = now() - interval '2 hours' - interval '1 minute', timeout_seconds = 3600,
       grace_seconds = 3600, kind = 'simple',
       alert_after = CASE WHEN id % ? = 0 THEN now() - interval '1 minute' ELSE now() + interval '2 days' END`,
    [share],
  )
  await db.raw('VACUUM ANALYZE checks, check_deadlines')
  const now = nowMicros()
  const gap: Gap = {
    listener: 'http',
    shards: ALL_SHARDS,
    from: now - microsOfSeconds(1800),
    until: now - microsOfSeconds(5),
    kind: 'full',
    cause: 'process lost',
  }
  const doubts = { until: now, gaps: [gap], shards: 1, next: nextOccurrence }
  const started = performance.now()
  let [down, extended] = [0, 0]
  await sweepPages(
    () => sweepOverdue(db, nowMicros(), { answered: [0], total: 1 }, doubts),
    (swept) => {
      down += swept.down.length
      extended += swept.extended.length
    },
  )
  const seconds = (performance.now() - started) / 1000
  if (down > 0) throw new Error('a gap took checks down')
  return {
    name: `${overdue} of ${checks} deadlines extended at once`,
    extended,
    s: seconds.toFixed(1),
    limit: overdue === 100_000 ? '15 s' : '',
    flips: down,
  }
}
