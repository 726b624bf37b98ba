import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import { ALL_SHARDS, type Gap, type Listener } from './unavailable.ts'

/** Serializes sweepers, which would otherwise lock rows in different orders. */
const LOCK = 5_217_004

/** A late heartbeat removes a gap. Keeps gaps of a clock, which do not follow from heartbeats. */
export async function storeGaps(db: Knex, gaps: readonly Gap[], since: Micros): Promise<void> {
  await transaction(db, async (tx) => {
    await execute(tx, 'SELECT pg_advisory_xact_lock(?)', [LOCK])
    const rows = JSON.stringify(gaps.map((gap) => ({ ...gap, shards: String(BigInt.asIntN(64, gap.shards)) })))
    await execute(
      tx,
      `WITH found AS (${FOUND})
       DELETE FROM coverage_gaps WHERE kind <> 'clock' AND (from_at >= ${timestampOf('?::bigint')} OR until_at IS NULL)
         AND NOT EXISTS (SELECT 1 FROM found WHERE found.listener = coverage_gaps.listener AND found.shards = coverage_gaps.shards
                           AND found.from_at = coverage_gaps.from_at AND found.kind = coverage_gaps.kind)`,
      [rows, since],
    )
    await execute(
      tx,
      `INSERT INTO coverage_gaps (listener, shards, from_at, until_at, kind, cause) ${FOUND} ORDER BY from_at, listener, shards
       ON CONFLICT (listener, from_at, shards, kind) DO UPDATE SET until_at = excluded.until_at, cause = excluded.cause
       WHERE coverage_gaps.until_at IS DISTINCT FROM excluded.until_at OR coverage_gaps.cause <> excluded.cause`,
      [rows],
    )
    await reevaluateUnavailable(tx)
  })
}

/** Runs with each write of gaps, so it also finds an incident that an alerter suppressed while the gap ended. */
async function reevaluateUnavailable(tx: Knex): Promise<void> {
  await execute(
    tx,
    `WITH blind AS (
       SELECT DISTINCT listener FROM coverage_gaps WHERE kind <> 'detection' AND (until_at IS NULL OR until_at > now()))
     UPDATE incidents SET next_at = now() WHERE id IN (
       SELECT i.id FROM incidents i
       WHERE i.suppression = 'COVERAGE_GAP' AND i.resolved_at IS NULL AND i.next_at > now()
         AND coalesce((SELECT CASE scheme WHEN 'email' THEN 'smtp' ELSE 'http' END FROM pings
                       WHERE check_id = i.check_id ORDER BY pings.n DESC LIMIT 1), 'http') NOT IN (SELECT listener FROM blind)
       ORDER BY i.n FOR NO KEY UPDATE OF i SKIP LOCKED)`,
    [],
  )
}

const FOUND = `
  SELECT listener, shards::bigint AS shards, ${timestampOf('"from"')} AS from_at, ${timestampOf('"until"')} AS until_at,
         kind, cause
  FROM jsonb_to_recordset(?::jsonb) AS t(listener text, shards text, "from" bigint, "until" bigint, kind text, cause text)`

/** A jump of the database's clock is a gap of every listener. Several sweepers may report the same jump. */
export async function addClockGap(db: Knex, from: Micros, until: Micros): Promise<void> {
  await execute(
    db,
    `INSERT INTO coverage_gaps (listener, shards, from_at, until_at, kind, cause)
     SELECT listener, -1, from_at, until_at, 'clock', 'clock set forward'
     FROM (VALUES ('http'), ('smtp')) AS listeners(listener),
          (SELECT ${timestampOf('?::bigint')} AS from_at, ${timestampOf('?::bigint')} AS until_at) AS jump
     WHERE NOT EXISTS (SELECT 1 FROM coverage_gaps WHERE kind = 'clock' AND coverage_gaps.listener = listeners.listener
                         AND coverage_gaps.from_at < jump.until_at AND coverage_gaps.until_at > jump.from_at)
     ON CONFLICT DO NOTHING`,
    [from, until],
  )
}

/** Called after the clock was set back. */
export async function cutClockGaps(db: Knex, now: Micros): Promise<void> {
  await execute(
    db,
    `UPDATE coverage_gaps SET until_at = greatest(from_at, ${timestampOf('?::bigint')})
     WHERE kind = 'clock' AND until_at > ${timestampOf('?::bigint')}`,
    [now, now],
  )
}

/** Time of the last end of a gap or refused ping; null if never. Deadlines before it need no evaluation. */
export async function lastDoubt(db: Knex): Promise<Micros | null> {
  const [row] = await query<{ at: Micros | null }>(
    db,
    `SELECT ${microsOf(`greatest(
       (SELECT max(coalesce(until_at, 'infinity'::timestamptz)) FILTER (WHERE until_at IS NOT NULL) FROM coverage_gaps
        WHERE kind <> 'detection'),
       (SELECT max(last_at) FROM refused_pings WHERE reason <> 'secret'))`)} AS at`,
  )
  return row?.at ?? null
}

const GAP_COLUMNS = columns<Omit<Gap, 'shards'> & { shards: string }>()(`
  listener, shards::text AS shards, ${microsOf('from_at')} AS from, ${microsOf('until_at')} AS until, kind, cause`)

export async function gapsSince(db: Knex, since: Micros): Promise<Gap[]> {
  const rows = await query(
    db,
    typed`SELECT ${GAP_COLUMNS} FROM coverage_gaps WHERE kind <> 'detection' AND (until_at IS NULL OR until_at > ${timestampOf('?::bigint')})
     ORDER BY from_at`,
    [since],
  )
  return rows.map((row) => ({ ...row, shards: BigInt(row.shards) & ALL_SHARDS }))
}

/** SMTP if the last ping was a mail; `scheme` is null without a ping. */
export function listenerOf(scheme: string | null): Listener {
  return scheme === 'email' ? 'smtp' : 'http'
}

const LISTENERS_COLUMNS = columns<{ id: number; scheme: string | null }>()(`
  t.id, (SELECT scheme FROM pings WHERE pings.check_id = t.id ORDER BY n DESC LIMIT 1) AS scheme`)

export async function listenersOf(db: Knex, checkIds: readonly number[]): Promise<Map<number, Listener>> {
  const rows = await query(db, typed`SELECT ${LISTENERS_COLUMNS} FROM unnest(?::bigint[]) AS t(id)`, [checkIds])
  return new Map(rows.map(({ id, scheme }) => [id, listenerOf(scheme)]))
}

export async function pruneGaps(db: Knex, days: number): Promise<void> {
  const past = 'now() - make_interval(days => ?::int)'
  await execute(db, `DELETE FROM coverage_gaps WHERE until_at < ${past}`, [days])
  await execute(db, `DELETE FROM unknown_periods WHERE until_at < ${past}`, [days])
  await execute(db, `DELETE FROM refused_pings WHERE last_at < ${past}`, [days])
}
