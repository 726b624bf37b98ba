import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { ListedGap } from './notice.ts'
import { ALL_SHARDS, SILENT_AFTER } from './unavailable.ts'

const OF_PROJECT = `
  LATERAL (
    SELECT count(DISTINCT u.check_id) AS checks,
           count(DISTINCT u.check_id) FILTER (WHERE c.last_ping >= u.gap_until) AS heard
    FROM unknown_periods u JOIN checks c ON c.id = u.check_id
    WHERE c.project_id = ? AND g.kind <> 'detection' AND u.gap_from < coalesce(g.until_at, 'infinity')
      AND u.gap_until > g.from_at) known`

/** The listener has proven since that it accepts pings; the next sweep will store the end of gap `g`. */
const IS_ENDING = `EXISTS (
  SELECT 1 FROM listener_heartbeats h
  WHERE g.until_at IS NULL AND h.span IS NOT NULL AND h.kind = g.listener AND h.ended IS NULL
    AND h.from_at >= g.from_at AND h.shards & g.shards = g.shards
    AND h.until_at > now() - interval '${SILENT_AFTER} microseconds')`

const COLUMNS = columns<ListedGap>()(`
  g.id, g.listener, ${microsOf('g.from_at')} AS from, ${microsOf('g.until_at')} AS until, g.kind, g.cause,
  CASE WHEN g.kind = 'detection' OR g.shards & ?::bigint = ?::bigint THEN 'all' ELSE 'some' END AS scope, known.checks,
  known.heard`)

/** Newest first. `before` is an id, null for the first page. */
export async function listGaps(
  db: Knex,
  { projectId, before, limit, shards }: { projectId: number; before: number | null; limit: number; shards: number },
): Promise<ListedGap[]> {
  return await query(
    db,
    typed`SELECT ${COLUMNS} FROM coverage_gaps g, ${OF_PROJECT}
     WHERE ?::bigint IS NULL OR (g.from_at, g.id) < (SELECT from_at, id FROM coverage_gaps WHERE id = ?::bigint)
     ORDER BY g.from_at DESC, g.id DESC LIMIT ?`,
    [...maskOf(shards), projectId, before, before, limit],
  )
}

/**
 * Returns the open gap of the last day, or else the newest that lasted a minute or made a check unknown. Gaps of the
 * mail listener count only for projects that get pings by e-mail.
 */
export async function findNotableGap(db: Knex, projectId: number): Promise<ListedGap | null> {
  const [gap] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM coverage_gaps g, ${OF_PROJECT}
     WHERE g.kind IN ('full', 'clock') AND g.listener IN ('http', 'smtp') AND NOT ${IS_ENDING}
       AND (g.until_at IS NULL OR g.until_at > now() - interval '1 day')
       AND (g.until_at IS NULL OR g.until_at - g.from_at >= interval '1 minute' OR known.checks > 0)
       AND (g.listener = 'http' OR known.checks > 0 OR EXISTS (
              SELECT 1 FROM checks c CROSS JOIN LATERAL (
                SELECT scheme FROM pings WHERE pings.check_id = c.id ORDER BY n DESC LIMIT 1) newest
              WHERE c.project_id = ? AND newest.scheme = 'email'))
     ORDER BY g.until_at IS NULL DESC, g.listener, g.from_at DESC LIMIT 1`,
    [...maskOf(1), projectId, projectId],
  )
  return gap ?? null
}

const GAPS_COLUMNS = columns<{ listener: 'http' | 'smtp'; from: Micros; cause: string }>()(`
  g.listener, ${microsOf('min(g.from_at)')} AS from, min(g.cause) AS cause`)

/** Omits gaps that are ending. */
export async function openGaps(db: Knex): Promise<{ listener: 'http' | 'smtp'; from: Micros; cause: string }[]> {
  return await query(
    db,
    typed`SELECT ${GAPS_COLUMNS} FROM coverage_gaps g
     WHERE g.until_at IS NULL AND g.kind <> 'detection' AND g.listener IN ('http', 'smtp') AND NOT ${IS_ENDING}
     GROUP BY g.listener ORDER BY 2`,
  )
}

/** Returns true if both listeners currently prove that they accept pings and the end of each earlier gap is stored. */
export async function areListenersProven(db: Knex): Promise<boolean> {
  const [row] = await query<{ isProven: boolean }>(
    db,
    `SELECT (SELECT count(DISTINCT kind) FROM listener_heartbeats
             WHERE span IS NOT NULL AND kind IN ('http', 'smtp') AND ended IS NULL
               AND until_at > now() - interval '${SILENT_AFTER} microseconds') = 2
        AND NOT EXISTS (SELECT 1 FROM coverage_gaps
                        WHERE until_at IS NULL AND kind <> 'detection' AND listener IN ('http', 'smtp')) AS "isProven"`,
  )
  return row?.isProven ?? false
}

function maskOf(shards: number): [string, string] {
  const mask = String(BigInt.asIntN(64, shards >= 64 ? ALL_SHARDS : (1n << BigInt(shards)) - 1n))
  return [mask, mask]
}
