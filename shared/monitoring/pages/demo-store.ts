import type { Knex } from 'knex'
import { execute, query } from '../../platform/database/sql.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { microsOfSeconds } from '../../time.ts'
import { DEMO_CHECKS, DEMO_DAYS, type DemoCheck, type DemoFlip, type DemoRun, demoHistory } from './demo-checks.ts'
import { insertDemoIncidents } from './demo-incidents-store.ts'

/** Runs of a check whose pings are stored; each has a start and an end. */
const STORED_RUNS = 100

/**
 * Fills an empty project. The data is always the same except for the times, which are relative to now.
 * @param logLimit pings kept per check, which is the size of its ring buffer
 */
export async function insertDemo(
  tx: Knex.Transaction,
  projectId: number,
  { secrets, logLimit }: { secrets: Secrets; logLimit: number },
): Promise<{ checks: number; flips: number; incidents: number }> {
  const integrations = await insertIntegrations(tx, projectId, secrets)
  let flips = 0
  for (const check of DEMO_CHECKS) {
    const history = demoHistory(check)
    const id = await insertCheck(tx, projectId, check, history.runs)
    await execute(tx, 'INSERT INTO check_integrations (check_id, integration_id) SELECT ?, unnest(?::bigint[])', [
      id,
      integrations.filter((_, position) => isNotified(check, position)),
    ])
    flips += await insertFlips(tx, id, history.flips)
    await insertPings(tx, id, history.runs, logLimit)
  }
  const incidents = await insertDemoIncidents(tx, projectId)
  return { checks: DEMO_CHECKS.length, flips, incidents }
}

/** Only mails really arrive, so the check that goes down again and again sends nothing else. */
function isNotified({ n, role }: DemoCheck, position: number): boolean {
  return role === 'flaky' ? position === 0 : (n + position) % 4 !== 0
}

/** Except for the mail the targets do not exist. Failed lookups are temporary, so no integration is switched off. */
async function insertIntegrations(tx: Knex, projectId: number, secrets: Secrets): Promise<number[]> {
  const rows = await query<{ id: number }>(
    tx,
    `INSERT INTO integrations (project_id, kind, name, sealed_config, last_error)
     SELECT ?, kind, name, config, error
     FROM unnest(?::text[], ?::text[], ?::text[], ?::text[]) AS made(kind, name, config, error) RETURNING id`,
    [
      projectId,
      ['email', 'mattermost', 'webhook', 'ntfy'],
      ['On-call', 'Ops room', 'Incident bot', 'Night shift'],
      [
        { value: 'oncall@example.com', up: true, down: true },
        { url: 'https://chat.example/hooks/ops' },
        WEBHOOK,
        { topic: 'night-shift', url: 'https://ntfy.example', priority: 3, priority_up: 3 },
      ].map((config) => secrets.seal('integration', JSON.stringify(config))),
      ['', '', 'Received status code 500', ''],
    ],
  )
  return rows.map(({ id }) => id)
}

const WEBHOOK = {
  url_up: '',
  method_up: 'GET',
  body_up: '',
  headers_up: {},
  url_down: 'https://hook.example/down',
  method_down: 'GET',
  body_down: '',
  headers_down: {},
}

async function insertCheck(tx: Knex, projectId: number, check: DemoCheck, runs: readonly DemoRun[]): Promise<number> {
  const { name, slug, tags, period, grace, role } = check
  const last = runs.at(-1)
  const status = role === 'paused' || role === 'new' ? role : role === 'failed' || role === 'missed' ? 'down' : 'up'
  const rows = await query<{ id: number }>(
    tx,
    `INSERT INTO checks (project_id, name, slug, tags, timeout_seconds, grace_seconds, status, n_pings, last_ping,
                         last_duration_us, alert_after, created_at)
     SELECT ?, ?, ?, ?, period, grace, status, ?::bigint, last, ?::bigint,
            CASE status WHEN 'up' THEN last + make_interval(secs => period + grace) END, now() - make_interval(days => ?)
     FROM (SELECT ?::text AS status, ?::int AS period, ?::int AS grace, now() - make_interval(secs => ?::float) AS last) AS its
     RETURNING id`,
    [
      projectId,
      name,
      slug,
      tags,
      runs.length * 2,
      last ? microsOfSeconds(last.seconds) : null,
      DEMO_DAYS,
      status,
      period,
      grace,
      last?.ago ?? null,
    ],
  )
  const [row] = rows
  if (!row) throw new Error('the check was not stored')
  return row.id
}

async function insertFlips(tx: Knex, id: number, flips: readonly DemoFlip[]): Promise<number> {
  return await execute(
    tx,
    `INSERT INTO flips (check_id, at, from_status, to_status, reason, processed_at)
     SELECT ?, now() - make_interval(secs => ago), was, is_now, why, now()
     FROM unnest(?::float[], ?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS f(ago, was, is_now, why, n) ORDER BY n`,
    [
      id,
      flips.map(({ ago }) => ago),
      flips.map(({ from }) => from),
      flips.map(({ to }) => to),
      flips.map(({ reason }) => reason),
    ],
  )
}

async function insertPings(tx: Knex, id: number, runs: readonly DemoRun[], logLimit: number): Promise<void> {
  const stored = runs.slice(-Math.min(STORED_RUNS, Math.floor(logLimit / 2)))
  await execute(
    tx,
    `INSERT INTO pings (check_id, slot, n, type, at, scheme, remote_addr, method, ua, exit_status, body)
     SELECT ?, n % ?::int, n, type, now() - make_interval(secs => ago), 'https', '192.0.2.7', 'POST', 'curl/8.5.0',
            CASE type WHEN 'fail' THEN 3 END,
            CASE type WHEN 'fail' THEN 'ValueError: row 1042 has 13 columns'::bytea WHEN 'success' THEN 'done, 1204 rows'::bytea END
     FROM (
       SELECT ?::bigint + 2 * run - 1 AS n, 'start' AS type, ago + seconds AS ago
       FROM unnest(?::float[], ?::int[]) WITH ORDINALITY AS r(ago, seconds, run)
       UNION ALL
       SELECT ?::bigint + 2 * run, CASE WHEN failed THEN 'fail' ELSE 'success' END, ago
       FROM unnest(?::float[], ?::boolean[]) WITH ORDINALITY AS r(ago, failed, run)) AS made`,
    [
      id,
      logLimit,
      2 * (runs.length - stored.length),
      stored.map(({ ago }) => ago),
      stored.map(({ seconds }) => seconds),
      2 * (runs.length - stored.length),
      stored.map(({ ago }) => ago),
      stored.map(({ isFailed }) => isFailed),
    ],
  )
}

/** Returns the oldest organisation; null if there is none. */
export async function findFirstOrganisation(db: Knex): Promise<number | null> {
  const rows = await query<{ id: number }>(db, 'SELECT id FROM organisations ORDER BY id LIMIT 1', [])
  return rows[0]?.id ?? null
}

export async function hasProjectNamed(db: Knex, organisationId: number, name: string): Promise<boolean> {
  const sql = 'SELECT id FROM projects WHERE organisation_id = ? AND name = ? LIMIT 1'
  return (await query<{ id: number }>(db, sql, [organisationId, name])).length > 0
}
