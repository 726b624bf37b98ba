import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, query, type SqlValue, typed } from '../../platform/database/sql.ts'
import { createTimeSlices } from '../../platform/process/time-slices.ts'
import { type Micros, toIsoMicros } from '../../time.ts'
import { IS_EXHAUSTED } from '../alerting/incident-store.ts'
import { timesColumns } from '../checks/columns-store.ts'
import { RULE_BITS } from '../checks/rule-bits.ts'
import { type CheckTimes, shownStatus } from '../checks/status.ts'
import type { OpenWindow } from '../maintenance/spans.ts'
import { nextOccurrence } from '../schedules/schedule.ts'
import type { Acknowledgement, CheckFilter, CheckGroup, CheckSort, ListCursor, QuietCounts } from './check-list.ts'

export interface ListedCheck extends CheckTimes {
  id: number
  uuid: string
  name: string
  slug: string
  tags: string
  integrationIds: string[]
  sortGroup: string
  sortKey: string | number
}

const TIMES_COLUMNS = columns<CheckTimes>(timesColumns('c'))

/** A parameter is read once; an expression would be computed for each row. */
const NOW = '?::timestamptz'
const GRACE = "c.grace_seconds * interval '1 second'"
/** For a schedule, derived from the stored deadline, which is one grace time later. */
const DUE = `CASE WHEN c.kind = 'simple' THEN greatest(c.last_ping, c.deadline_extended_at) + c.timeout_seconds * interval '1 second'
                  ELSE c.alert_after - ${GRACE} END`
/** Only the stored deadline decides when a check with these rules goes down (rule-bits.ts). */
const HAS_RULES = `c.rule_bits & ${RULE_BITS.runs | RULE_BITS.sources} <> 0`
/** The stored deadline is that of a running job or of a rule, so the due time cannot be derived. */
const IS_UNTOLD = `(c.kind <> 'simple' AND c.status = 'up' AND (${HAS_RULES} OR c.alert_after = c.last_start + ${GRACE}))`

/**
 * status.ts in SQL, for counting and filtering, with the parameters of `shownAt`. The first line covers nearly all
 * checks of a large project with one computation instead of six: a deadline is never later than due time and running
 * job allow.
 */
const SHOWN = `
  CASE WHEN c.status = 'up' AND c.alert_after - ${GRACE} > ${NOW} AND NOT ${HAS_RULES} THEN 'up'
       WHEN CASE WHEN ${HAS_RULES} THEN c.alert_after ELSE c.last_start + ${GRACE} END <= ${NOW} THEN 'down'
       WHEN c.status <> 'up' THEN c.status
       WHEN ${IS_UNTOLD} THEN CASE WHEN c.id = ANY(?::bigint[]) THEN 'grace' ELSE 'up' END
       WHEN ${DUE} + ${GRACE} <= ${NOW} AND NOT ${HAS_RULES} THEN 'down'
       WHEN ${DUE} <= ${NOW} THEN 'grace'
       ELSE 'up' END`

export type ShownAt = readonly SqlValue[]

const ID_COLUMNS = columns<{ id: number }>({ id: 'c.id' })

/** Includes checks that only status.ts can recognise as in grace. Computed once for all statements of one moment. */
export async function shownAt(db: Knex, projectId: number, micros: Micros): Promise<ShownAt> {
  const now = toIsoMicros(micros)
  const untold = await query(
    db,
    typed`SELECT ${ID_COLUMNS}, ${TIMES_COLUMNS} FROM checks c
     WHERE c.project_id = ? AND ${IS_UNTOLD} AND (${HAS_RULES} OR c.last_start + ${GRACE} > ${NOW})`,
    [projectId, now],
  )
  const inGrace: number[] = []
  const slices = createTimeSlices()
  for (const check of untold) {
    if (shownStatus(check, micros, nextOccurrence) === 'grace') inGrace.push(check.id)
    await slices.yieldIfNeeded()
  }
  return [now, now, inGrace, now, now]
}

/** Down, late, all others. */
const RANK = `CASE ${SHOWN} WHEN 'down' THEN '0' WHEN 'grace' THEN '1' ELSE '2' END`

/** Digits are compared as numbers. A PostgreSQL without ICU compares bytes. */
const NAME = 'c.name COLLATE natural_order'

/**
 * Rows are ordered by `group`, `key` and id. The group is a separate column, because in one text its digits would join
 * those of the name; it compares bytes.
 */
const SORTS = {
  name: { group: `''`, key: NAME, type: 'text' },
  created: { group: `''`, key: 'c.id', type: 'bigint' },
  'last-ping': { group: `''`, key: `-coalesce(${microsOf('c.last_ping')}, 0)`, type: 'bigint' },
  status: { group: RANK, key: NAME, type: 'text' },
  // By the first tag, checks without tags last; within a tag by status.
  tag: {
    group: `(CASE WHEN c.tags = '' THEN '1' ELSE '0' || lower(split_part(c.tags, ' ', 1)) END) || chr(1) || ${RANK}`,
    key: NAME,
    type: 'text',
  },
} as const satisfies Record<CheckSort, { group: string; key: string; type: string }>

const LISTED_COLUMNS = columns<Omit<ListedCheck, keyof CheckTimes>>({
  id: 'c.id',
  uuid: 'c.uuid',
  name: 'c.name',
  slug: 'c.slug',
  tags: 'c.tags',
  sortGroup: '"sortGroup"',
  sortKey: '"sortKey"',
  integrationIds: `
    coalesce((SELECT array_agg(integrations.uuid::text) FROM check_integrations
              JOIN integrations ON integrations.id = check_integrations.integration_id
              WHERE check_integrations.check_id = c.id), '{}')`,
})

/** Keyset pagination: equal cost per page, no repeated or skipped rows. `page.before` pages backwards. */
export async function listCheckPage(
  db: Knex,
  projectId: number,
  page: {
    filter: CheckFilter
    sort: CheckSort
    after: ListCursor | null
    before?: ListCursor | null
    limit: number
    shown: ShownAt
    /** the windows in progress, for the filter of maintenance */
    windows?: readonly OpenWindow[]
  },
): Promise<ListedCheck[]> {
  const { group, key, type } = SORTS[page.sort]
  const where = conditions(projectId, page.filter, page.shown, page.windows ?? [])
  const { after, before = null } = page
  const beside = before ?? after
  const place = beside
    ? `WHERE ("sortGroup", "sortKey", id) ${before ? '<' : '>'} (?::text, ?::${type}, ?::bigint)`
    : ''
  const order = before ? '"sortGroup" DESC, "sortKey" DESC, id DESC' : '"sortGroup", "sortKey", id'
  const ranked = page.sort === 'status' || page.sort === 'tag' ? page.shown : []
  return await query(
    db,
    typed`SELECT ${LISTED_COLUMNS}, ${TIMES_COLUMNS} FROM (SELECT * FROM (SELECT c.id, (${group}) COLLATE "C" AS "sortGroup", ${key} AS "sortKey" FROM checks c WHERE ${where.sql}) AS keyed ${place}
           ORDER BY ${order} LIMIT ?) AS page JOIN checks c ON c.id = page.id
     ORDER BY "sortGroup", "sortKey", c.id`,
    [...ranked, ...where.values, ...(beside ? [beside.group, beside.key, beside.id] : []), page.limit],
  )
}

const groupColumns = (isFound: string) =>
  columns<CheckGroup>({
    tags: 'c.tags',
    status: SHOWN,
    isRunning: 'c.last_start IS NOT NULL',
    isFound,
    count: 'count(*)',
  })

/** There are far fewer groups than checks. */
export async function groupChecks(db: Knex, projectId: number, shown: ShownAt, search = ''): Promise<CheckGroup[]> {
  return await query(
    db,
    typed`SELECT ${search === '' ? GROUP_COLUMNS : SEARCHED_GROUP_COLUMNS} FROM checks c WHERE c.project_id = ? GROUP BY 1, 2, 3, 4`,
    [...shown, ...(search === '' ? [] : [pattern(search)]), projectId],
  )
}

/** Any change of a row changes its xmin. The distance of two ages is cheaper than ids as text. */
const VERSIONS = `coalesce(sum(age('3'::xid)::bigint - age(c.xmin)), 0)::bigint`

const FINGERPRINT_COLUMNS = columns<{ count: number; versions: number; down: number; acknowledged: string }>({
  count: 'count(*)',
  versions: VERSIONS,
  acknowledged: `coalesce((SELECT string_agg(i.n::text, ' ' ORDER BY i.n) FROM incidents i
                           WHERE i.project_id = ? AND i.state = 'acknowledged'), '')`,
  down: "count(*) FILTER (WHERE c.status = 'down')",
})

/** Changes when anything in the project's list may look different, except through a maintenance window. */
export async function listFingerprint(db: Knex, projectId: number): Promise<{ fingerprint: string; down: number }> {
  const rows = await query(db, typed`SELECT ${FINGERPRINT_COLUMNS} FROM checks c WHERE c.project_id = ?`, [
    projectId,
    projectId,
  ])
  const { count, versions, down, acknowledged } = rows[0] ?? { count: 0, versions: 0, down: 0, acknowledged: '' }
  return { fingerprint: `${count} ${versions}${acknowledged && ` ${acknowledged}`}`, down }
}

/** Omits deleted checks. */
export async function projectsOfChecks(db: Knex, checkIds: readonly number[]): Promise<number[]> {
  const rows = await query<{ id: number }>(
    db,
    'SELECT DISTINCT project_id AS id FROM checks WHERE id = ANY(?::bigint[])',
    [checkIds],
  )
  return rows.map(({ id }) => id)
}

const FOUND = `concat_ws(' ', c.name, c.slug, c.tags, c.uuid) ILIKE ?`

const GROUP_COLUMNS = groupColumns('true')
const SEARCHED_GROUP_COLUMNS = groupColumns(FOUND)

function pattern(search: string): string {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`
}

function conditions(
  projectId: number,
  filter: CheckFilter,
  shown: ShownAt,
  windows: readonly OpenWindow[],
): { sql: string; values: SqlValue[] } {
  const parts = ['c.project_id = ?']
  const values: SqlValue[] = [projectId]
  if (filter.tags.length > 0) {
    parts.push(`string_to_array(c.tags, ' ') @> ?::text[]`)
    values.push(filter.tags)
  }
  if (filter.search !== '') {
    parts.push(FOUND)
    values.push(pattern(filter.search))
  }
  if (filter.status === 'running') parts.push('c.last_start IS NOT NULL')
  else if (filter.status !== null) {
    parts.push(`${SHOWN} = ?`)
    values.push(...shown, filter.status)
  }
  if (filter.quiet !== null) {
    const quiet = filter.quiet === 'acknowledged' ? acknowledged(projectId) : inMaintenance(windows)
    parts.push(quiet.sql)
    values.push(...quiet.values)
  }
  return { sql: parts.join(' AND '), values }
}

function acknowledged(projectId: number): Prepared {
  const sql = `c.id IN (SELECT i.check_id FROM incidents i WHERE i.project_id = ? AND i.state = 'acknowledged')`
  return { sql, values: [projectId] }
}

/** `isAbout` of maintenance windows in SQL. */
function inMaintenance(windows: readonly OpenWindow[]): Prepared {
  const tags = windows.map(({ window }) => window.match.trim()).filter((match) => match !== '')
  if (tags.includes('*')) return { sql: 'true', values: [] }
  const byTag = tags.map(() => ` OR string_to_array(c.tags, ' ') @> ?::text[]`).join('')
  const uuids = windows.flatMap(({ window }) => window.checks)
  return { sql: `(c.uuid = ANY(?::uuid[])${byTag})`, values: [uuids, ...tags.map((match) => match.split(/\s+/))] }
}

interface Prepared {
  sql: string
  values: SqlValue[]
}

const quietColumns = (isInMaintenance: string) =>
  columns<QuietCounts>()(`
    (SELECT count(*) FROM checks c WHERE c.project_id = ? AND ${isInMaintenance}) AS maintenance,
    (SELECT count(*) FROM incidents i WHERE i.project_id = ? AND i.state = 'acknowledged') AS acknowledged`)

/** Counts the checks of a project that send no alerts at the moment. Reads all checks only during maintenance. */
export async function countQuiet(db: Knex, projectId: number, open: readonly OpenWindow[]): Promise<QuietCounts> {
  const { sql, values } = inMaintenance(open)
  const rows = await query(db, typed`SELECT ${quietColumns(sql)}`, [projectId, ...values, projectId])
  return rows[0] ?? { maintenance: 0, acknowledged: 0 }
}

const ACKNOWLEDGEMENT_COLUMNS = columns<Acknowledgement & { checkId: number }>()(`
  i.check_id, coalesce(i.ack_by, '') AS by, ${microsOf('i.ack_until')} AS until`)

/** Returns the acknowledgements of open incidents of these checks, by check id. */
export async function acknowledgementsOf(db: Knex, checkIds: readonly number[]): Promise<Map<number, Acknowledgement>> {
  const rows = await query(
    db,
    typed`SELECT ${ACKNOWLEDGEMENT_COLUMNS} FROM incidents i
     WHERE i.check_id = ANY(?::bigint[]) AND i.resolved_at IS NULL AND i.state = 'acknowledged'`,
    [checkIds],
  )
  return new Map(rows.map(({ checkId, ...acknowledgement }) => [checkId, acknowledgement]))
}

/** Returns those of the checks whose open incident has nothing left to send. */
export async function exhaustedChecks(db: Knex, checkIds: readonly number[]): Promise<Set<number>> {
  const rows = await query<{ checkId: number }>(
    db,
    `SELECT i.check_id AS "checkId" FROM incidents i LEFT JOIN alert_policies p ON p.id = i.policy_id
     WHERE i.check_id = ANY(?::bigint[]) AND ${IS_EXHAUSTED}`,
    [checkIds],
  )
  return new Set(rows.map(({ checkId }) => checkId))
}
