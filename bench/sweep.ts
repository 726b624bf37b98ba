import { OVERDUE_PAGE, sweepOverdue } from '#shared/monitoring/checks/overdue-store.ts'
import { nowMicros } from '#shared/time.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

/** A tenth of a million checks overdue at once: flips stored, with one message a page, by the sweeper's own statement. */
export async function benchSweep(options: { checks: number; overdue: number }): Promise<Row[]> {
  await using stack = await openBenchStack()
  await addChecks(stack.db, options.checks)
  await stack.db.raw(
    `UPDATE checks SET status = 'up', last_ping = now() - interval '1 day',
       alert_after = now() + CASE WHEN id % ? = 0 THEN -(random() * interval '1 hour') - interval '1 minute'
                                  ELSE interval '1 hour' + random() * interval '1 day' END`,
    [Math.round(options.checks / options.overdue)],
  )
  await stack.db.raw('VACUUM ANALYZE checks, check_marks')
  const started = performance.now()
  let flips = 0
  for (let looked = OVERDUE_PAGE; looked === OVERDUE_PAGE; ) {
    const swept = await sweepOverdue(stack.db, nowMicros(), { answered: [0], total: 1 })
    looked = swept.looked
    flips += swept.down.length
  }
  const seconds = (performance.now() - started) / 1000
  return [
    {
      name: `${options.overdue} of ${options.checks}`,
      flips,
      seconds: seconds.toFixed(2),
      'flips/s': Math.round(flips / seconds),
    },
  ]
}
