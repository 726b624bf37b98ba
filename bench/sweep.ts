import type { Knex } from 'knex'
import { sweepOverdue, sweepPages } from '#shared/monitoring/checks/overdue-store.ts'
import { nowMicros } from '#shared/time.ts'
import { costPerItem, openProcessorTime } from './processor-time.ts'
import { addChecks, openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

/** Factors of the time of the plain statement: 2.5 s and 1.3 s if it takes 1.1 s. */
const RELATIVE_TO_PLAIN = { limit: 2.27, goal: 1.18 }
const PLAIN_PAGE = 5_000

/**
 * Measures two sweeps of a tenth of the checks. In the first a ping has moved each deadline, so no check goes down; in
 * the second all are overdue. Compares the second with a plain statement that only changes the status in a separate
 * table.
 */
export async function benchSweep(options: { checks: number; overdue: number }): Promise<Row[]> {
  await using stack = await openBenchStack()
  const { db } = stack
  await addChecks(db, options.checks)
  const share = Math.round(options.checks / options.overdue)
  await db.raw(
    `UPDATE checks SET status = 'up', last_ping = now() - interval '1 day',
       alert_after = now() + CASE WHEN id % ? = 0 THEN -(random() * interval '1 hour') - interval '1 minute'
                                  ELSE interval '1 hour' + random() * interval '1 day' END`,
    [share],
  )
  await db.raw("UPDATE checks SET alert_after = alert_after + interval '1 day' WHERE id % ? = 0", [share])
  await db.raw('VACUUM ANALYZE checks, check_deadlines')
  const withoutFlips = await sweep(db, options.overdue)
  await db.raw(
    `UPDATE checks SET alert_after = now() - (random() * interval '1 hour') - interval '1 minute' WHERE id % ? = 1`,
    [share],
  )
  await db.raw('VACUUM ANALYZE checks, check_deadlines')
  await db.raw('CHECKPOINT')
  const down = await sweep(db, options.overdue)
  const plain = await sweepPlainly(db, options)
  const isFull = options.overdue === 100_000
  const empty = Object.fromEntries(Object.keys(down).map((column) => [column, '']))
  return [
    {
      name: `${options.overdue} of ${options.checks} evaluated without a flip`,
      ...withoutFlips,
      limit: '20 us, 1.2 kB',
      goal: '',
    },
    {
      name: `${options.overdue} of ${options.checks} overdue at once`,
      ...down,
      limit: isFull ? '2.5 s' : '',
      goal: isFull ? '1.3 s' : '',
    },
    {
      ...empty,
      name: 'the same by a plain statement, without flips',
      seconds: plain.toFixed(2),
      'checks/s': Math.round(options.overdue / plain),
      limit: '',
      goal: '',
    },
    {
      ...empty,
      name: 'overdue at once, relative to the plain statement',
      seconds: (Number(down.seconds) / plain).toFixed(2),
      limit: RELATIVE_TO_PLAIN.limit,
      goal: RELATIVE_TO_PLAIN.goal,
    },
  ]
}

/**
 * Changes as many rows of a table of the same size, found by an index. Each page is a transaction; there are no flips,
 * messages or lock conflicts. @returns seconds
 */
async function sweepPlainly(db: Knex, { checks, overdue }: { checks: number; overdue: number }): Promise<number> {
  const share = Math.round(checks / overdue)
  await db.raw(
    `CREATE TABLE plain_checks AS
     SELECT id, 'up' AS status, repeat('x', 200) AS padding,
       now() + CASE WHEN id % ?::int = 0 THEN -(random() * interval '1 hour') - interval '1 minute'
                    ELSE interval '1 hour' + random() * interval '1 day' END AS alert_after
     FROM generate_series(1, ?::int) AS id`,
    [share, checks],
  )
  await db.raw('ALTER TABLE plain_checks ADD PRIMARY KEY (id)')
  await db.raw('CREATE INDEX plain_checks_due ON plain_checks (alert_after) WHERE alert_after IS NOT NULL')
  await db.raw('VACUUM ANALYZE plain_checks')
  await db.raw('CHECKPOINT')
  const started = performance.now()
  for (let changed = PLAIN_PAGE; changed > 0; ) {
    const { rowCount } = await db.raw<{ rowCount: number }>(
      `WITH due AS (SELECT id FROM plain_checks WHERE alert_after <= now()
                    ORDER BY alert_after LIMIT ? FOR UPDATE SKIP LOCKED)
       UPDATE plain_checks SET status = 'down', alert_after = NULL FROM due WHERE plain_checks.id = due.id`,
      [PLAIN_PAGE],
    )
    changed = rowCount
  }
  return (performance.now() - started) / 1000
}

async function sweep(db: Knex, checks: number): Promise<Row> {
  const time = await openProcessorTime(db, { ingress: [], evaluator: [] })
  const wal = async () => {
    const { rows } = await db.raw<{ rows: { at: number }[] }>(
      `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float AS at`,
    )
    return rows[0]?.at ?? Number.NaN
  }
  const walBefore = await wal()
  const timeBefore = await time.read()
  const started = performance.now()
  let flips = 0
  await sweepPages(
    () => sweepOverdue(db, nowMicros(), { answered: [0], total: 1 }),
    ({ down }) => (flips += down.length),
  )
  const seconds = (performance.now() - started) / 1000
  const { database } = costPerItem(timeBefore, await time.read(), checks)
  return {
    flips,
    seconds: seconds.toFixed(2),
    'checks/s': Math.round(checks / seconds),
    'database us/check': database === null ? '' : database.toFixed(1),
    'WAL kB/check': (((await wal()) - walBefore) / checks / 1000).toFixed(2),
  }
}
