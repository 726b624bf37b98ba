import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import { runYielding } from '../../platform/process/time-slices.ts'
import { type Micros, toIsoSeconds } from '../../time.ts'
import { uniqueKey } from '../checks/slug.ts'
import { splitTags } from '../checks/tags.ts'
import { excludedSpans, timedWindows } from '../maintenance/spans.ts'
import type { WindowTime } from '../maintenance/window.ts'
import { windowsOf } from '../maintenance/window-store.ts'
import { type DayFacts, spanOfDate } from './record-of-day.ts'

interface CheckRow {
  id: number
  uuid: string
  tags: string
  kind: string
  timeout: number
  grace: number
  schedule: string
  tz: string
  first: string | null
}

/** Omits checks that were created later. `checkId` null means all. */
export async function factsOfDay(
  db: Knex,
  projectId: number,
  date: string,
  checkIds: readonly number[] | null,
): Promise<DayFacts[]> {
  const { from, until } = spanOfDate(date)
  const checks = await query(db, CHECKS, [from, from, projectId, until, checkIds, checkIds])
  const ids = checks.map(({ id }) => id)
  // One after the other: the caller's transaction is one connection.
  const flips = await query(db, FLIPS, [ids, from, until])
  const unknown = await query(db, UNKNOWN, [until, ids, until, from])
  const windows = await windowsOf(db, [projectId])
  const timed = await runYielding(timedWindows(windows, from, until))
  const flipsOf = Map.groupBy(flips, ({ checkId }) => checkId)
  const unknownOf = Map.groupBy(unknown, ({ checkId }) => checkId)
  return checks.map((check) => ({
    checkId: check.id,
    uniqueKey: uniqueKey(check.uuid),
    settings: settingsOf(check),
    first: check.first,
    flips: flipsOf.get(check.id) ?? [],
    unknown: unknownOf.get(check.id) ?? [],
    excluded: excludedSpans(timed, { uuid: check.uuid, tags: splitTags(check.tags) }),
  }))
}

function settingsOf({ kind, timeout, grace, schedule, tz }: CheckRow): Record<string, string | number> {
  return kind === 'simple' ? { timeout, grace } : { schedule, tz, grace }
}

const GAPS_COLUMNS = columns<{ from: Micros; until: Micros | null }>()(`
  ${microsOf('from_at')} AS from, ${microsOf('until_at')} AS until`)

/** Merges gaps over listeners and shards. */
export async function gapsOfDay(db: Knex, date: string): Promise<[string, string | null][]> {
  const { from, until } = spanOfDate(date)
  const rows = await query(
    db,
    typed`SELECT DISTINCT ${GAPS_COLUMNS} FROM coverage_gaps
     WHERE kind <> 'detection' AND from_at < ${timestampOf('?::bigint')}
       AND (until_at IS NULL OR until_at > ${timestampOf('?::bigint')}) ORDER BY 1, 2`,
    [until, from],
  )
  return rows.map((gap) => [toIsoSeconds(gap.from), gap.until === null ? null : toIsoSeconds(gap.until)])
}

const CHECK_ROW_COLUMNS = columns<CheckRow>({
  id: 'c.id',
  uuid: 'c.uuid',
  tags: 'c.tags',
  kind: 'c.kind',
  timeout: 'c.timeout_seconds',
  grace: 'c.grace_seconds',
  schedule: 'c.schedule',
  tz: 'c.tz',
  first: `CASE WHEN c.created_at <= ${timestampOf('?::bigint')} THEN coalesce(
           (SELECT to_status FROM flips WHERE check_id = c.id AND at < ${timestampOf('?::bigint')}
            ORDER BY id DESC LIMIT 1),
           (SELECT from_status FROM flips WHERE check_id = c.id ORDER BY id LIMIT 1), c.status) END`,
})

/** `first` is the status at the start of the day, from the last flip before it. */
const CHECKS = typed`
  SELECT ${CHECK_ROW_COLUMNS} FROM checks c
  WHERE c.project_id = ? AND c.created_at < ${timestampOf('?::bigint')}
    AND (?::bigint[] IS NULL OR c.id = ANY(?::bigint[]))
  ORDER BY c.id`

const FLIP_COLUMNS = columns<{ checkId: number; at: Micros; to: string; reason: string }>()(`
  check_id, ${microsOf('at')} AS at, to_status AS to, reason`)

const FLIPS = typed`
  SELECT ${FLIP_COLUMNS}
  FROM flips WHERE check_id = ANY(?::bigint[]) AND at >= ${timestampOf('?::bigint')} AND at < ${timestampOf('?::bigint')}
  ORDER BY check_id, at, id`

const UNKNOWN_COLUMNS = columns<WindowTime & { checkId: number }>()(`
  check_id, ${microsOf('from_at')} AS from, coalesce(${microsOf('until_at')}, ?::bigint) AS until`)

const UNKNOWN = typed`
  SELECT ${UNKNOWN_COLUMNS}
  FROM unknown_periods WHERE check_id = ANY(?::bigint[]) AND from_at < ${timestampOf('?::bigint')}
    AND (until_at IS NULL OR until_at > ${timestampOf('?::bigint')})
  ORDER BY check_id, from_at`
