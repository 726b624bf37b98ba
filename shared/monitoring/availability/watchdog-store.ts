import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'

/** Interval of requests to the external monitor, over all sweepers (docs/spec/alerting.md#coverage-gaps). */
const EVERY = '60 seconds'

const IS_DUE = `(watchdog_tried_at IS NULL OR watchdog_tried_at <= clock_timestamp() - interval '${EVERY}')`

export async function isWatchdogDue(db: Knex): Promise<boolean> {
  return (await query(db, `SELECT FROM installation WHERE NOT ${IS_DUE}`)).length === 0
}

/** Returns true for one of several sweepers once per interval. */
export async function claimWatchdog(db: Knex): Promise<boolean> {
  const taken = await execute(
    db,
    `INSERT INTO installation AS i (watchdog_tried_at) VALUES (clock_timestamp())
     ON CONFLICT (is_only) DO UPDATE SET watchdog_tried_at = excluded.watchdog_tried_at
       WHERE i.watchdog_tried_at IS NULL OR i.watchdog_tried_at <= clock_timestamp() - interval '${EVERY}'`,
    [],
  )
  return taken > 0
}

export async function recordWatchdogResponse(db: Knex): Promise<void> {
  await execute(db, 'UPDATE installation SET watchdog_fed_at = clock_timestamp(), watchdog_problem = NULL', [])
}

export async function recordWatchdogProblem(db: Knex, problem: string): Promise<void> {
  await execute(
    db,
    'UPDATE installation SET watchdog_problem = ?::text WHERE watchdog_problem IS DISTINCT FROM ?::text',
    [problem, problem],
  )
}

const WATCHDOG_COLUMNS = columns<{ now: Micros; fedAt: Micros | null; problem: string | null }>()(`
  ${microsOf('now()')} AS now, ${microsOf('watchdog_fed_at')} AS fedAt, watchdog_problem AS problem`)

/** `fedAt` is the time of the last 2xx response, null if there was none; `problem` is the newest reason since. */
export async function readWatchdog(db: Knex): Promise<{ now: Micros; fedAt: Micros | null; problem: string | null }> {
  const [row] = await query(db, typed`SELECT ${WATCHDOG_COLUMNS} FROM (SELECT) one LEFT JOIN installation ON true`)
  if (!row) throw new Error('the database returned no time')
  return row
}
