import type { Knex } from 'knex'
import { timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { AnchorBlock } from '../../transparency/anchoring/leaf.ts'
import type { DayRecord } from '../../transparency/statements/day-record.ts'

export interface OpenDay {
  projectId: number
  projectUuid: string
  /** `YYYY-MM-DD`, UTC */
  date: string
}

/** The anchored statement of a day (docs/spec/alerting.md#daily-statements). */
interface DayStatement {
  v: 1
  id: string
  eventType: string
  timestamp: string
  date: string
  /** SHA-256 of each record, sorted */
  records: string[]
  /** coverage gaps; the end is null for an open one */
  gaps: [string, string | null][]
  /** txId of the project's previous statement; null for its first */
  previous: string | null
  /** txId of the statement of the same day that it corrects */
  corrects: string | null
}

export type StoredStatement = DayStatement & { anchor: AnchorBlock }

/** A statement is due a quarter past midnight, plus a time within an hour that differs by project. */
const FINALIZE_AFTER = `interval '15 minutes' + (p.id * 7919 % 3600) * interval '1 second'`

const NEXT_DAY = `greatest(p.statements_since, (SELECT max(s.on_date) + 1 FROM uptime_statements s
                                                 WHERE s.project_id = p.id AND NOT s.is_correction))`

const OPEN_DAY_COLUMNS = columns<OpenDay>()(`
  p.id AS projectId, p.uuid AS projectUuid, to_char(d.day, 'YYYY-MM-DD') AS date`)

/** Oldest day first; of each project its oldest. */
export async function findOpenDays(db: Knex, now: Micros, limit: number): Promise<OpenDay[]> {
  return await query(
    db,
    typed`SELECT ${OPEN_DAY_COLUMNS} FROM projects p CROSS JOIN LATERAL (SELECT ${NEXT_DAY} AS day) d
     WHERE p.statements_since IS NOT NULL
       AND (d.day + 1)::timestamp AT TIME ZONE 'UTC' + ${FINALIZE_AFTER} <= ${timestampOf('?::bigint')}
     ORDER BY d.day, p.id LIMIT ?`,
    [now, limit],
  )
}

/** Returns false if another process states or has stated the day, or statements are disabled. */
export async function lockOpenDay(tx: Knex, { projectId, date }: OpenDay): Promise<boolean> {
  const rows = await query(
    tx,
    'SELECT FROM projects WHERE id = ? AND statements_since IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED',
    [projectId],
  )
  if (rows.length === 0) return false
  // A separate statement, because the snapshot of the one above is older than the lock.
  const next = await query<{ isOpen: boolean }>(
    tx,
    `SELECT ${NEXT_DAY} = ?::date AS "isOpen" FROM projects p WHERE p.id = ?`,
    [date, projectId],
  )
  return next[0]?.isOpen === true
}

export async function lastTxId(tx: Knex, projectId: number): Promise<string | null> {
  const rows = await query<{ txId: string }>(
    tx,
    `SELECT statement->'anchor'->>'txId' AS "txId" FROM uptime_statements WHERE project_id = ? ORDER BY id DESC LIMIT 1`,
    [projectId],
  )
  return rows[0]?.txId ?? null
}

/** `records` have their number of flips. */
export async function storeStatement(
  tx: Knex,
  projectId: number,
  statement: StoredStatement,
  records: readonly { checkId: number; record: DayRecord }[],
): Promise<void> {
  const rows = await query<{ id: number }>(
    tx,
    `INSERT INTO uptime_statements (project_id, on_date, is_correction, statement) VALUES (?, ?::date, ?, ?::jsonb) RETURNING id`,
    [projectId, statement.date, statement.corrects !== null, JSON.stringify(statement)],
  )
  await execute(
    tx,
    `INSERT INTO uptime_statement_records (statement_id, check_id, record, flips)
     SELECT ?, t.check_id, t.record, t.flips FROM unnest(?::bigint[], ?::jsonb[], ?::int[]) AS t(check_id, record, flips)
     WHERE EXISTS (SELECT FROM checks WHERE id = t.check_id)`,
    [
      rows[0]?.id ?? 0,
      records.map(({ checkId }) => checkId),
      records.map(({ record }) => JSON.stringify(record)),
      records.map(({ record }) => record.flips.length),
    ],
  )
}

/** Days back that are searched for late facts. */
const CORRECTED_DAYS = 7

const OUTDATED_COLUMNS = columns<{ date: string; checkId: number }>()(`
  to_char(s.on_date, 'YYYY-MM-DD') AS date, r.check_id`)

/** Facts that were stored after the day was stated. Searches days before `date`. */
export async function findOutdated(
  tx: Knex,
  projectId: number,
  date: string,
): Promise<{ date: string; checkId: number }[]> {
  return await query(
    tx,
    typed`SELECT ${OUTDATED_COLUMNS}
     FROM (SELECT DISTINCT ON (r.check_id, s.on_date) r.check_id, s.on_date, s.made_at, r.flips
           FROM uptime_statements s JOIN uptime_statement_records r ON r.statement_id = s.id
           WHERE s.project_id = ? AND s.on_date < ?::date AND s.on_date >= ?::date - ${CORRECTED_DAYS}
           ORDER BY r.check_id, s.on_date, s.id DESC) r
     CROSS JOIN LATERAL (SELECT r.on_date, r.on_date::timestamp AT TIME ZONE 'UTC' AS begin,
                                (r.on_date + 1)::timestamp AT TIME ZONE 'UTC' AS "end") s
     WHERE r.flips < (SELECT count(*) FROM flips f WHERE f.check_id = r.check_id AND f.at >= s.begin AND f.at < s."end")
        OR EXISTS (SELECT FROM unknown_periods u WHERE u.check_id = r.check_id AND u.deadline_extended_at >= r.made_at
                     AND u.from_at < s."end" AND (u.until_at IS NULL OR u.until_at > s.begin))
     ORDER BY s.on_date, r.check_id`,
    [projectId, date, date],
  )
}

const STATED_COLUMNS = columns<{ checkId: number; record: DayRecord }>({ checkId: 'r.check_id', record: 'r.record' })

/** Includes the newest record of each check; null if the day has no statement. */
export async function findStated(
  tx: Knex,
  projectId: number,
  date: string,
  checkIds: readonly number[],
): Promise<{ statement: StoredStatement; records: Map<number, DayRecord> } | null> {
  const [newest] = await query<{ statement: StoredStatement }>(
    tx,
    'SELECT statement FROM uptime_statements WHERE project_id = ? AND on_date = ?::date ORDER BY id DESC LIMIT 1',
    [projectId, date],
  )
  if (!newest) return null
  const rows = await query(
    tx,
    typed`SELECT DISTINCT ON (r.check_id) ${STATED_COLUMNS}
     FROM uptime_statement_records r JOIN uptime_statements s ON s.id = r.statement_id
     WHERE s.project_id = ? AND s.on_date = ?::date AND r.check_id = ANY(?::bigint[])
     ORDER BY r.check_id, s.id DESC`,
    [projectId, date, checkIds],
  )
  return { statement: newest.statement, records: new Map(rows.map(({ checkId, record }) => [checkId, record])) }
}

/** The range includes both days. */
export async function statedBetween(
  db: Knex,
  { projectId, checkId, from, until }: { projectId: number; checkId: number; from: string; until: string },
): Promise<{ statements: StoredStatement[]; records: DayRecord[] }> {
  const statements = await query<{ statement: StoredStatement }>(
    db,
    `SELECT statement FROM uptime_statements WHERE project_id = ?
       AND id BETWEEN (SELECT min(id) FROM uptime_statements WHERE project_id = ? AND on_date BETWEEN ?::date AND ?::date)
                  AND (SELECT max(id) FROM uptime_statements WHERE project_id = ? AND on_date BETWEEN ?::date AND ?::date)
     ORDER BY id`,
    [projectId, projectId, from, until, projectId, from, until],
  )
  const records = await query<{ record: DayRecord }>(
    db,
    `SELECT r.record FROM uptime_statement_records r JOIN uptime_statements s ON s.id = r.statement_id
     WHERE r.check_id = ? AND s.project_id = ? AND s.on_date BETWEEN ?::date AND ?::date ORDER BY s.id`,
    [checkId, projectId, from, until],
  )
  return { statements: statements.map(({ statement }) => statement), records: records.map(({ record }) => record) }
}

export async function setStatements(tx: Knex, projectId: number, isWanted: boolean): Promise<boolean> {
  const changed = await execute(
    tx,
    `UPDATE projects SET statements_since = CASE WHEN ? THEN (now() AT TIME ZONE 'UTC')::date END
     WHERE id = ? AND (statements_since IS NOT NULL) <> ?`,
    [isWanted, projectId, isWanted],
  )
  return changed === 1
}

/** `YYYY-MM-DD`; null if statements are disabled. */
export async function statementsSince(db: Knex, projectId: number): Promise<string | null> {
  const rows = await query<{ since: string | null }>(
    db,
    `SELECT to_char(statements_since, 'YYYY-MM-DD') AS since FROM projects WHERE id = ?`,
    [projectId],
  )
  return rows[0]?.since ?? null
}

/** Seconds that the oldest day has waited; 0 if none does. */
export async function statementAge(db: Knex, now: Micros): Promise<number> {
  const rows = await query<{ seconds: number }>(
    db,
    `SELECT greatest(0, coalesce(max(extract(epoch FROM ${timestampOf('?::bigint')}
              - ((d.day + 1)::timestamp AT TIME ZONE 'UTC' + ${FINALIZE_AFTER}))), 0))::float8 AS seconds
     FROM projects p CROSS JOIN LATERAL (SELECT ${NEXT_DAY} AS day) d WHERE p.statements_since IS NOT NULL`,
    [now],
  )
  return rows[0]?.seconds ?? 0
}

/** Keeps the entries of deleted statements in the log. */
export async function pruneStatements(db: Knex, days: number): Promise<void> {
  await execute(db, 'DELETE FROM uptime_statements WHERE on_date < (now() - make_interval(days => ?::int))::date', [
    days,
  ])
}
