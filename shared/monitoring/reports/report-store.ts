import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { runYielding } from '../../platform/process/time-slices.ts'
import type { Micros } from '../../time.ts'
import { splitTags } from '../checks/tags.ts'
import { excludedSpans, timedWindows } from '../maintenance/spans.ts'
import { windowsOf } from '../maintenance/window-store.ts'
import type { DownCheck, ProjectReport } from './report.ts'
import type { ReportSettings } from './report-times.ts'

const REPORT_SETTINGS_COLUMNS = columns<ReportSettings>({ report: 'report', reminder: 'reminder', tz: 'tz' })

export async function findReportSettings(db: Knex, userId: number): Promise<ReportSettings> {
  const [row] = await query(db, typed`SELECT ${REPORT_SETTINGS_COLUMNS} FROM user_reports WHERE user_id = ?`, [userId])
  return row ?? { report: 'off', reminder: 'off', tz: 'UTC' }
}

export async function saveReportSettings(
  db: Knex,
  userId: number,
  { report, reminder, tz }: ReportSettings,
  reportAt: Micros | null,
): Promise<void> {
  await execute(
    db,
    `INSERT INTO user_reports (user_id, report, reminder, tz, report_at) VALUES (?, ?, ?, ?, ${timestampOf('?::bigint')})
     ON CONFLICT (user_id) DO UPDATE SET report = excluded.report, reminder = excluded.reminder, tz = excluded.tz,
       report_at = excluded.report_at, reminder_at = NULL`,
    [userId, report, reminder, tz, reportAt],
  )
}

export interface DuePerson extends ReportSettings {
  userId: number
  uuid: string
  email: string
  dueAt: Micros
}

const PERSON_COLUMNS = columns<Omit<DuePerson, 'dueAt'>>()(`
  u.id AS userId, u.uuid, u.email, r.report, r.reminder, r.tz`)

const DUE_AT_COLUMNS = {
  report_at: columns<Pick<DuePerson, 'dueAt'>>({ dueAt: microsOf('r.report_at') }),
  reminder_at: columns<Pick<DuePerson, 'dueAt'>>({ dueAt: microsOf('r.reminder_at') }),
}

/** Skips locked rows, so that several sweepers work in parallel. */
export async function lockDuePerson(
  tx: Knex,
  column: 'report_at' | 'reminder_at',
  now: Micros,
): Promise<DuePerson | null> {
  const at = column === 'report_at' ? 'r.report_at' : 'r.reminder_at'
  const [row] = await query(
    tx,
    typed`SELECT ${PERSON_COLUMNS}, ${DUE_AT_COLUMNS[column]} FROM user_reports r JOIN users u ON u.id = r.user_id
     WHERE ${at} <= ${timestampOf('?::bigint')} ORDER BY ${at} LIMIT 1 FOR UPDATE OF r SKIP LOCKED`,
    [now],
  )
  return row ?? null
}

export async function setReportAt(tx: Knex, userId: number, at: Micros | null): Promise<void> {
  await execute(tx, `UPDATE user_reports SET report_at = ${timestampOf('?::bigint')} WHERE user_id = ?`, [at, userId])
}

export async function setReminderAt(tx: Knex, userId: number, at: Micros | null): Promise<void> {
  await execute(tx, `UPDATE user_reports SET reminder_at = ${timestampOf('?::bigint')} WHERE user_id = ?`, [at, userId])
}

/** Sets reminders of users with an unacknowledged outage. Returns their number. */
export async function setFirstReminders(db: Knex): Promise<number> {
  return await execute(
    db,
    `UPDATE user_reports r
     SET reminder_at = down.at + CASE r.reminder WHEN 'hourly' THEN interval '1 hour' ELSE interval '1 day' END
     FROM (SELECT m.user_id, max(i.down_at) AS at FROM incidents i
           JOIN checks c ON c.id = i.check_id AND c.status = 'down' JOIN projects p ON p.id = c.project_id
           JOIN memberships m ON m.organisation_id = p.organisation_id
           WHERE i.resolved_at IS NULL AND i.state <> 'acknowledged' GROUP BY m.user_id) down
     WHERE down.user_id = r.user_id AND r.reminder <> 'off' AND r.reminder_at IS NULL`,
  )
}

/** Returns false if the mail of this kind and period is claimed. */
export async function claimMailOf(
  tx: Knex,
  {
    id,
    userId,
    kind,
    period,
  }: { id: string; userId: number; kind: 'report' | 'reminder' | 'limit' | 'gap'; period: string },
): Promise<boolean> {
  return (
    (await execute(
      tx,
      'INSERT INTO report_mails (id, user_id, kind, period) VALUES (?, ?, ?, ?) ON CONFLICT (user_id, kind, period) DO NOTHING',
      [id, userId, kind, period],
    )) === 1
  )
}

const DOWN_CHECK_COLUMNS = columns<DownCheck>()(`
  c.uuid, c.name, c.tags, p.id AS projectId, p.name AS projectName, ${microsOf('i.down_at')} AS downAt`)

/** Not acknowledged; the longest outage first. */
export async function downChecksOf(db: Knex, projectIds: readonly number[]): Promise<DownCheck[]> {
  return await query(
    db,
    typed`SELECT ${DOWN_CHECK_COLUMNS}
     FROM incidents i JOIN checks c ON c.id = i.check_id JOIN projects p ON p.id = c.project_id
     WHERE i.resolved_at IS NULL AND i.state <> 'acknowledged' AND c.status = 'down' AND p.id = ANY(?::bigint[])
     ORDER BY i.down_at, c.id`,
    [projectIds],
  )
}

const MANAGERS_COLUMNS = columns<{ userId: number; email: string }>({ userId: 'u.id', email: 'u.email' })

export async function findManagers(db: Knex, projectId: number): Promise<{ userId: number; email: string }[]> {
  return await query(
    db,
    typed`SELECT ${MANAGERS_COLUMNS} FROM projects p JOIN memberships m ON m.organisation_id = p.organisation_id
       JOIN users u ON u.id = m.user_id
     WHERE p.id = ? AND m.role IN ('owner', 'manager') ORDER BY u.id`,
    [projectId],
  )
}

export async function pruneMails(db: Knex, days: number): Promise<void> {
  await execute(db, 'DELETE FROM report_mails WHERE created_at < now() - make_interval(days => ?::int)', [days])
}

export async function findReader(db: Knex, projectId: number, email: string): Promise<{ tz: string | null } | null> {
  const [row] = await query<{ tz: string | null }>(
    db,
    `SELECT r.tz FROM users u JOIN memberships m ON m.user_id = u.id
       JOIN projects p ON p.organisation_id = m.organisation_id LEFT JOIN user_reports r ON r.user_id = u.id
     WHERE p.id = ? AND u.email = ? AND u.email_verified`,
    [projectId, email.toLowerCase()],
  )
  return row ?? null
}

/** Ordered by id. Before the first stored flip, its old status counts; without flips, the present status. */
export async function projectReports(
  db: Knex,
  projectIds: readonly number[],
  { from, until }: { from: Micros; until: Micros },
): Promise<ProjectReport[]> {
  const excluded = await excludedTimes(db, projectIds, from, until)
  return await query(db, REPORTS, [projectIds, from, until, JSON.stringify(excluded)])
}

const EXCLUDED_TIMES_COLUMNS = columns<{ id: number; uuid: string; tags: string; projectId: number }>()(`
  id, uuid, tags, project_id`)

/** See docs/spec/alerting.md#maintenance-windows. */
async function excludedTimes(db: Knex, projectIds: readonly number[], from: Micros, until: Micros) {
  const windows = (await windowsOf(db, projectIds)).filter(({ uptime }) => uptime === 'exclude')
  if (windows.length === 0) return []
  const timed = await runYielding(timedWindows(windows, from, until))
  const checks = await query(
    db,
    typed`SELECT ${EXCLUDED_TIMES_COLUMNS} FROM checks WHERE project_id = ANY(?::bigint[])`,
    [projectIds],
  )
  return checks.flatMap(({ id, uuid, tags, projectId }) => {
    const own = timed.filter(({ window }) => window.projectId === projectId)
    return excludedSpans(own, { uuid, tags: splitTags(tags) }).map((span) => ({ id, ...span }))
  })
}

const US = (span: string) => `(extract(epoch FROM ${span}) * 1000000)::bigint`

const COUNTED = (begins: string, ends: string) => `
  (SELECT coalesce(sum(upper(piece) - lower(piece)), interval '0')
   FROM unnest(tstzmultirange(tstzrange(${begins}, ${ends})) - coalesce(excluded.times, '{}'::tstzmultirange)) AS piece)`

const NOT_DELIVERED = `n.state IN ('failed', 'suppressed') AND n.error <> 'Superseded'
  AND n.created_at >= requested."from" AND n.created_at < requested.until`

const PROJECT_REPORT_COLUMNS = columns<ProjectReport>({
  uuid: 'p.uuid',
  name: 'p.name',
  up: `coalesce((SELECT ${US('sum(up)')} FROM known WHERE project_id = p.id), 0)`,
  down: `coalesce((SELECT ${US('sum(down)')} FROM known WHERE project_id = p.id), 0)`,
  unknown: `coalesce((SELECT ${US('sum(dark)')} FROM known WHERE project_id = p.id), 0)`,
  incidents:
    '(SELECT count(*) FROM incidents i WHERE i.project_id = p.id AND i.down_at >= requested."from" AND i.down_at < requested.until)',
  worst: `coalesce((SELECT json_agg(json_build_object('uuid', uuid, 'name', name, 'down', ${US('down')}) ORDER BY down DESC, id)
              FROM (SELECT * FROM known WHERE project_id = p.id AND down > interval '0'
                    ORDER BY down DESC, id LIMIT 5) worst), '[]')`,
  silent: `coalesce((SELECT json_agg(json_build_object('uuid', uuid, 'name', name) ORDER BY id)
              FROM (SELECT own.* FROM own WHERE own.project_id = p.id AND own.status <> 'paused'
                      AND coalesce(own.last_ping, own.created_at) < requested.until - interval '30 days'
                    ORDER BY own.id LIMIT 50) silent), '[]')`,
  unreached: `(SELECT count(*) FROM notifications n JOIN integrations c ON c.id = n.integration_id
     WHERE c.project_id = p.id AND n.what <> 'test' AND ${NOT_DELIVERED})
     + (SELECT count(*) FROM notifications n JOIN own ON own.id = n.check_id
        WHERE own.project_id = p.id AND n.user_id IS NOT NULL AND coalesce(n.leader_id, n.id) = n.id AND ${NOT_DELIVERED})`,
})

/** @param values projects, from, until, excluded times in JSON */
const REPORTS = typed`
  WITH requested AS (SELECT ?::bigint[] AS projects, ${timestampOf('?::bigint')} AS "from", ${timestampOf('?::bigint')} AS "until"),
  excluded AS (
    SELECT id AS check_id, range_agg(tstzrange(${timestampOf('"from"')}, ${timestampOf('"until"')})) AS times
    FROM jsonb_to_recordset(?::jsonb) AS t(id bigint, "from" bigint, "until" bigint) GROUP BY id),
  own AS (SELECT c.* FROM checks c, requested WHERE c.project_id = ANY(requested.projects)),
  changes AS (
    SELECT f.check_id, f.at, f.to_status AS status, f.id FROM flips f JOIN own ON own.id = f.check_id, requested
    WHERE f.at < requested.until
    UNION ALL
    SELECT own.id, own.created_at, coalesce(first.from_status, CASE WHEN own.n_pings > 0 THEN own.status ELSE 'new' END), 0
    FROM own LEFT JOIN LATERAL (
      SELECT from_status FROM flips WHERE check_id = own.id ORDER BY at, id LIMIT 1) first ON true),
  spans AS (
    SELECT check_id, status, greatest(at, requested."from") AS begins,
           least(coalesce(lead(at) OVER (PARTITION BY check_id ORDER BY at, id), requested.until), requested.until) AS ends
    FROM changes, requested),
  sums AS (
    SELECT check_id,
           coalesce(sum(length) FILTER (WHERE status = 'up'), interval '0') AS up,
           coalesce(sum(length) FILTER (WHERE status = 'down'), interval '0') AS down
    FROM (SELECT spans.check_id, status, CASE WHEN ends > begins THEN ${COUNTED('begins', 'ends')} END AS length
          FROM spans LEFT JOIN excluded USING (check_id)) counted GROUP BY check_id),
  dark AS (
    SELECT u.check_id, sum(${COUNTED('greatest(u.from_at, requested."from")', 'least(coalesce(u.until_at, requested.until), requested.until)')}) AS span
    FROM unknown_periods u JOIN own ON own.id = u.check_id LEFT JOIN excluded ON excluded.check_id = u.check_id, requested
    WHERE u.from_at < requested.until AND coalesce(u.until_at, requested.until) > requested."from" GROUP BY u.check_id),
  known AS (
    SELECT own.id, own.uuid, own.name, own.project_id, sums.down, coalesce(dark.span, interval '0') AS dark,
           greatest(sums.up - coalesce(dark.span, interval '0'), interval '0') AS up
    FROM own JOIN sums ON sums.check_id = own.id LEFT JOIN dark ON dark.check_id = own.id)
  SELECT ${PROJECT_REPORT_COLUMNS}
  FROM projects p, requested WHERE p.id = ANY(requested.projects) ORDER BY p.name, p.id`
