import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Run, RunStats } from './run.ts'

const RUN_COLUMNS = columns<Run>()(`
  n, rid, source, ${microsOf('started_at')} AS startedAt, ${microsOf('finished_at')} AS finishedAt,
  duration_us AS duration, outcome, ${microsOf('deadline')} AS deadline, flags`)

/** Newest first. `before` is a number, null for the newest. */
export async function listRuns(db: Knex, checkId: number, before: number | null, limit: number): Promise<Run[]> {
  return await query(
    db,
    typed`SELECT ${RUN_COLUMNS}
     FROM runs WHERE check_id = ? AND (?::bigint IS NULL OR n < ?::bigint) ORDER BY n DESC LIMIT ?`,
    [checkId, before, before, limit],
  )
}

const RUN_STATS_COLUMNS = columns<RunStats>()(`
  count(*) FILTER (WHERE duration_us IS NOT NULL) AS count,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_us) AS p50,
  percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_us) AS p95,
  percentile_disc(0.99) WITHIN GROUP (ORDER BY duration_us) AS p99,
  coalesce((SELECT missed FROM check_tallies WHERE check_id = ?), 0) AS missed,
  coalesce((SELECT streak FROM check_tallies WHERE check_id = ?), 0) AS streak,
  (SELECT count(*) FROM runs WHERE check_id = ? AND outcome = 'open') AS open`)

/** Uses the newest 200 measured successes. */
export async function readRunStats(db: Knex, checkId: number): Promise<RunStats> {
  const [stats] = await query(
    db,
    typed`SELECT ${RUN_STATS_COLUMNS} FROM (SELECT duration_us FROM runs WHERE check_id = ? AND outcome = 'success' AND duration_us IS NOT NULL
           ORDER BY n DESC LIMIT 200) newest`,
    [checkId, checkId, checkId, checkId],
  )
  if (!stats) throw new Error('an aggregate has one row')
  return stats
}

export interface RunHistogram {
  uuid: string
  name: string
  tags: string
  missed: number
  buckets: number[]
  measured: number
  seconds: number
}

const RUN_HISTOGRAM_COLUMNS = columns<RunHistogram>()(`
  c.uuid, c.name, c.tags, t.missed, array_to_json(t.buckets) AS buckets, t.measured, t.seconds`)

export async function runHistograms(db: Knex, projectId: number): Promise<RunHistogram[]> {
  return await query(
    db,
    typed`SELECT ${RUN_HISTOGRAM_COLUMNS} FROM checks c JOIN check_tallies t ON t.check_id = c.id
     WHERE c.project_id = ? AND c.rule_bits & 1 <> 0 ORDER BY c.id`,
    [projectId],
  )
}

/** Abandons runs this many hours after their deadline. Returns the number. */
export async function abandonOldRuns(db: Knex, hours: number): Promise<number> {
  return await execute(
    db,
    `UPDATE runs SET outcome = 'abandoned'
     WHERE outcome = 'open' AND deadline < now() - make_interval(hours => ?::int)`,
    [hours],
  )
}

export async function countOpenRuns(db: Knex): Promise<number> {
  const [row] = await query<{ count: number }>(db, "SELECT count(*) AS count FROM runs WHERE outcome = 'open'")
  return row?.count ?? 0
}

export interface AbandonedNotice {
  checkId: number
  uuid: string
  name: string
  /** addresses of the owners of its project; never empty */
  owners: string[]
}

const ABANDONED_NOTICE_COLUMNS = columns<AbandonedNotice>()('t.check_id, due.uuid, due.name, due.owners')

/** Claims each check at most once a day. */
export async function claimAbandonedNotices(db: Knex): Promise<AbandonedNotice[]> {
  return await query(
    db,
    typed`WITH due AS (
       SELECT t.check_id, c.uuid, c.name, array_agg(u.email ORDER BY u.id) AS owners
       FROM check_tallies t JOIN checks c ON c.id = t.check_id JOIN projects p ON p.id = c.project_id
         JOIN memberships m ON m.organisation_id = p.organisation_id AND m.role = 'owner' JOIN users u ON u.id = m.user_id
       WHERE t.abandoned_at IS NOT NULL
         AND (t.abandoned_notified_at IS NULL OR t.abandoned_notified_at < now() - interval '1 day')
       GROUP BY t.check_id, c.uuid, c.name)
     UPDATE check_tallies t SET abandoned_at = NULL, abandoned_notified_at = now() FROM due
     WHERE t.check_id = due.check_id AND t.abandoned_at IS NOT NULL
       AND (t.abandoned_notified_at IS NULL OR t.abandoned_notified_at < now() - interval '1 day')
     RETURNING ${ABANDONED_NOTICE_COLUMNS}`,
  )
}
