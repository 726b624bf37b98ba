import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Project } from '../projects/store.ts'
import { insertDemoIncidents } from './demo-incidents-store.ts'

const JOBS = [
  ['Nightly backup', 'db', 86_400, 3600],
  ['Search index rebuild', 'eu', 900, 3600],
  ['Sitemap generator', 'eu', 604_800, 3600],
  ['Report e-mails', 'reports', 900, 600],
  ['Image pruning', 'platform', 900, 3600],
  ['Orders database backup', 'db', 86_400, 3600],
  ['Invoices export', 'billing', 21_600, 3600],
  ['Mail queue drain', 'platform', 300, 120],
  ['Nightly ledger close', 'billing', 86_400, 3600],
  ['Log rotation', 'platform', 3600, 900],
  ['Payroll run', 'billing', 604_800, 86_400],
  ['Certificate renewal', 'security', 86_400, 43_200],
  ['Vulnerability scan', 'security', 86_400, 7200],
  ['Warehouse sync', 'data', 1800, 900],
  ['Cache warmer', 'platform', 600, 300],
] as const
const SORT_ORDER = ['', ' (staging)', ' EU', ' US'] as const

/** The data is always the same except for the instants, which are relative to now. */
export async function insertDemo(
  tx: Knex.Transaction,
  actor: Actor,
  project: Pick<Project, 'id' | 'name' | 'organisationId'>,
  days: number,
  { secrets }: { secrets: Secrets },
): Promise<{ checks: number; flips: number; incidents: number }> {
  const integrations = await insertIntegrations(tx, project.id, secrets)
  let checks = 0
  let flips = 0
  for (const [at, place] of SORT_ORDER.entries()) {
    for (const [index, [name, tag, period, grace]] of JOBS.entries()) {
      const n = at * JOBS.length + index
      const status = n % 17 === 12 ? 'paused' : n % 23 === 20 ? 'new' : n % 9 === 1 ? 'down' : 'up'
      const tags = `${place === ' (staging)' ? 'staging' : 'prod'} ${tag}${place === ' EU' ? ' eu' : place === ' US' ? ' us' : ''}`
      // One in eight is late: its last ping is a period and a third of its grace time ago.
      const quiet =
        status === 'down' ? period + grace + 1320 : n % 8 === 3 ? period + grace / 3 : (period * (n % 7)) / 9
      const id = await insertCheck(tx, project.id, { name: name + place, tags, period, grace, status, quiet, days })
      checks += 1
      await execute(tx, 'INSERT INTO check_integrations (check_id, integration_id) SELECT ?, unnest(?::bigint[])', [
        id,
        integrations.filter((_, position) => (n + position) % 4 !== 0),
      ])
      if (status !== 'new') flips += await insertFlips(tx, id, { n, days, status, period })
      if (status !== 'new') await insertPings(tx, id, { period, quiet, failed: status === 'down' && n % 2 === 0 })
    }
  }
  const incidents = await insertDemoIncidents(tx, project.id)
  const { organisationId } = project
  await insertActorAudit(tx, actor, { organisationId, action: 'project.demo', target: project.name })
  return { checks, flips, incidents }
}

async function insertIntegrations(tx: Knex, projectId: number, secrets: Secrets): Promise<number[]> {
  const rows = await query<{ id: number }>(
    tx,
    `INSERT INTO integrations (project_id, kind, name, sealed_config, last_notify_at, last_error)
     SELECT ?, kind, name, config, now() - interval '22 minutes', error
     FROM unnest(?::text[], ?::text[], ?::text[], ?::text[]) AS made(kind, name, config, error) RETURNING id`,
    [
      projectId,
      ['email', 'telegram', 'webhook', 'pd'],
      ['On-call', 'Ops room', 'Incident bot', 'Night shift'],
      [
        { value: 'oncall@example.com' },
        { id: '1', type: 'private', name: 'Ops' },
        { url_down: 'https://hook.example/down', url_up: '' },
        { value: 'none' },
      ].map((config) => secrets.seal('integration', JSON.stringify(config))),
      ['', '', 'Received status code 500', ''],
    ],
  )
  return rows.map(({ id }) => id)
}

async function insertCheck(
  tx: Knex,
  projectId: number,
  made: { name: string; tags: string; period: number; grace: number; status: string; quiet: number; days: number },
): Promise<number> {
  const { name, tags, period, grace, status, quiet, days } = made
  const rows = await query<{ id: number }>(
    tx,
    `INSERT INTO checks (project_id, name, slug, tags, timeout_seconds, grace_seconds, status, n_pings, last_ping,
                         last_duration_us, alert_after, created_at)
     SELECT ?, ?, '', ?, ?, ?, status, CASE status WHEN 'new' THEN 0 ELSE 40 END,
            CASE status WHEN 'new' THEN NULL ELSE last END, CASE status WHEN 'new' THEN NULL ELSE 42000000 END,
            CASE status WHEN 'up' THEN last + make_interval(secs => ?::int) END, now() - make_interval(days => ?::int)
     FROM (SELECT ?::text AS status, now() - make_interval(secs => ?::float) AS last) AS its RETURNING id`,
    [projectId, name, tags, period, grace, period + grace, days, status, quiet],
  )
  const [row] = rows
  if (!row) throw new Error('the check was not stored')
  return row.id
}

/** Outages last minutes to hours on days that differ by check; one is open. */
async function insertFlips(
  tx: Knex,
  id: number,
  { n, days, status, period }: { n: number; days: number; status: string; period: number },
): Promise<number> {
  const begun = [[days * 86_400, 'new', 'up', '']] as [number, string, string, string][]
  for (let day = days - 1 - (n % 19); day > 1; day -= 11 + (n % 23)) {
    const from = day * 86_400
    begun.push([from, 'up', 'down', n % 2 === 0 ? 'fail' : 'timeout'], [from - 600 * (1 + (n % 31)), 'down', 'up', ''])
  }
  if (status === 'down') begun.push([1320 + n * 60, 'up', 'down', n % 2 === 0 ? 'fail' : 'timeout'])
  if (status === 'paused') begun.push([period % 86_400 || 40_000, 'up', 'paused', ''])
  return await execute(
    tx,
    `INSERT INTO flips (check_id, at, from_status, to_status, reason, processed_at)
     SELECT ?, now() - make_interval(secs => ago), was, is_now, why, now()
     FROM unnest(?::float[], ?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS f(ago, was, is_now, why, n) ORDER BY n`,
    [
      id,
      begun.map(([ago]) => ago),
      begun.map(([, was]) => was),
      begun.map(([, , to]) => to),
      begun.map(([, , , why]) => why),
    ],
  )
}

async function insertPings(
  tx: Knex,
  id: number,
  { period, quiet, failed }: { period: number; quiet: number; failed: boolean },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO pings (check_id, slot, n, type, at, scheme, remote_addr, method, ua, exit_status, body)
     SELECT ?, n, n, CASE WHEN n % 2 = 1 THEN 'start' WHEN n = 40 AND ? THEN 'fail' ELSE 'success' END,
            now() - make_interval(secs => ?::float + ((40 - n) / 2) * ?::float + CASE WHEN n % 2 = 1 THEN 30 + (n * 37) % 50 ELSE 0 END),
            'https', '192.0.2.7', 'POST', 'curl/8.5.0', CASE WHEN n = 40 AND ? THEN 3 END,
            CASE WHEN n = 40 AND ? THEN 'ValueError: row 1042 has 13 columns'::bytea WHEN n % 2 = 0 THEN 'done, 1204 rows'::bytea END
     FROM generate_series(1, 40) AS n`,
    [id, failed, quiet, period, failed, failed],
  )
}

const EMPTY_PROJECT_COLUMNS = columns<Pick<Project, 'id' | 'name' | 'organisationId'>>()('id, name, organisation_id')

/** Returns `taken` if the database contains checks, and null without a project. */
export async function findEmptyProject(
  db: Knex,
): Promise<Pick<Project, 'id' | 'name' | 'organisationId'> | 'taken' | null> {
  if ((await query<{ id: number }>(db, 'SELECT id FROM checks LIMIT 1', [])).length > 0) return 'taken'
  const rows = await query(db, typed`SELECT ${EMPTY_PROJECT_COLUMNS} FROM projects ORDER BY id LIMIT 1`, [])
  return rows[0] ?? null
}
