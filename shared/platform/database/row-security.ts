import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { sessionSettings } from './server.ts'

/** The role for work across tenants: workers, the ping listener, sign-in. It owns no table and bypasses no policy. */
export const PIPELINE_ROLE = 'signalbox_pipeline'

const setting = (name: string) => `(SELECT nullif(current_setting('signalbox.${name}', true), '')::bigint)`
const ofOrganisation = `organisation_id = ${setting('organisation_id')}`
const ofProject = `project_id = ${setting('project_id')}`
const through = (parent: string, column: string) =>
  `EXISTS (SELECT FROM ${parent} AS parent WHERE parent.id = ${column})`

/** A person belongs to organisations. The policy of memberships applies within the condition. */
const ofMember = (table: string) => `EXISTS (SELECT FROM memberships AS parent WHERE parent.user_id = ${table}.user_id)`

export const tenantTables: Readonly<Record<string, string>> = {
  organisations: `id = ${setting('organisation_id')}`,
  projects: `id = ${setting('project_id')} OR ${ofOrganisation}`,
  agent_calls: ofOrganisation,
  agent_digests: ofOrganisation,
  agent_keys: ofOrganisation,
  monthly_sends: ofOrganisation,
  acceptance_adjustments: ofOrganisation,
  acceptance_receivables: ofOrganisation,
  acceptance_records: ofOrganisation,
  acceptance_requests: ofOrganisation,
  audit_log: ofOrganisation,
  clients: ofOrganisation,
  colending_events: ofOrganisation,
  consents: ofOrganisation,
  contact_codes: ofMember('contact_codes'),
  contact_methods: ofMember('contact_methods'),
  contact_rules: ofMember('contact_rules'),
  on_call_settings: ofMember('on_call_settings'),
  consumer_keys: ofOrganisation,
  daily_counters: ofOrganisation,
  entities: ofOrganisation,
  entity_aliases: through('entities', 'entity_aliases.entity_id'),
  entity_identifiers: through('entities', 'entity_identifiers.entity_id'),
  entity_keys: through('entities', 'entity_keys.entity_id'),
  entity_passports: through('entities', 'entity_passports.entity_id'),
  entity_records: through('entities', 'entity_records.entity_id'),
  erasures: through('identity_subjects', 'erasures.subject_id'),
  events: ofOrganisation,
  evidence_jobs: ofOrganisation,
  financing_disputes: `${ofOrganisation} OR holder_id = ${setting('organisation_id')}`,
  financing_fingerprints: ofOrganisation,
  financing_registrations: ofOrganisation,
  financing_sightings: through('financing_registrations', 'financing_sightings.registration_id'),
  financing_transfers: through('financing_registrations', 'financing_transfers.registration_id'),
  idempotency_keys: ofOrganisation,
  import_chunks: through('imports', 'import_chunks.import_id'),
  import_errors: through('imports', 'import_errors.import_id'),
  import_rows: through('imports', 'import_rows.import_id'),
  imports: ofOrganisation,
  identity_subjects: ofOrganisation,
  identity_transitions: through('identity_subjects', 'identity_transitions.subject_id'),
  identity_verifications: through('identity_subjects', 'identity_verifications.subject_id'),
  lms_integrations: ofOrganisation,
  memberships: ofOrganisation,
  one_time_links: ofOrganisation,
  organisation_families: ofOrganisation,
  packs: ofOrganisation,
  passports: through('identity_subjects', 'passports.subject_id'),
  presentation_redirects: ofOrganisation,
  presentation_values: through('presentations', 'presentation_values.presentation_id'),
  presentations: ofOrganisation,
  pools: ofOrganisation,
  pool_members: through('pools', 'pool_members.pool_id'),
  pool_cuts: through('pools', 'pool_cuts.pool_id'),
  pool_files: through('pool_cuts', 'pool_files.cut_id'),
  eligibility_runs: through('pool_cuts', 'eligibility_runs.cut_id'),
  receivables: ofOrganisation,
  trade_documents: ofOrganisation,
  trade_packs: ofOrganisation,
  trade_verifications: ofOrganisation,
  trusted_issuers: ofOrganisation,
  usage_units: ofOrganisation,
  withheld_families: ofOrganisation,
  webhook_endpoints: ofOrganisation,
  schedules: ofOrganisation,
  notification_bundles: ofProject,
  integrations: ofProject,
  checks: ofProject,
  incidents: ofProject,
  alert_policies: ofProject,
  project_keys: ofProject,
  import_plans: ofProject,
  quota_notices: ofProject,
  saved_filters: ofProject,
  uptime_statements: ofProject,
  status_notes: ofProject,
  status_pages: ofProject,
  verified_recipients: ofProject,
  maintenance_windows: ofProject,
  agent_budget_days: through('agent_keys', 'agent_budget_days.agent_key_id'),
  agent_key_days: through('agent_keys', 'agent_key_days.agent_key_id'),
  agent_key_projects: through('agent_keys', 'agent_key_projects.agent_key_id'),
  check_integrations: through('checks', 'check_integrations.check_id'),
  push_tokens: through('checks', 'push_tokens.check_id'),
  import_sources: through('checks', 'import_sources.check_id'),
  check_rules: through('checks', 'check_rules.check_id'),
  overrides: through('schedules', 'overrides.schedule_id'),
  swaps: through('schedules', 'swaps.schedule_id'),
  shifts: through('schedules', 'shifts.schedule_id'),
  personal_notices: through('schedules', 'personal_notices.schedule_id'),
  shift_changes: through('schedules', 'shift_changes.schedule_id'),
  calendar_feeds: through('schedules', 'calendar_feeds.schedule_id'),
  check_secrets: through('checks', 'check_secrets.check_id'),
  check_tallies: through('checks', 'check_tallies.check_id'),
  client_secrets: through('clients', 'client_secrets.client_id'),
  notification_bundle_members: through('notification_bundles', 'notification_bundle_members.bundle_id'),
  check_deadlines: through('checks', 'check_deadlines.check_id'),
  alert_decisions: through('checks', 'alert_decisions.check_id'),
  flips: through('checks', 'flips.check_id'),
  incident_events: through('incidents', 'incident_events.incident_id'),
  runs: through('checks', 'runs.check_id'),
  ping_sources: through('checks', 'ping_sources.check_id'),
  uptime_statement_records: through('uptime_statements', 'uptime_statement_records.statement_id'),
  refused_pings: through('checks', 'refused_pings.check_id'),
  unknown_periods: through('checks', 'unknown_periods.check_id'),
  kept_failures: through('checks', 'kept_failures.check_id'),
  limited_pings: through('checks', 'limited_pings.check_id'),
  notification_attempts: through('notifications', 'notification_attempts.notification_id'),
  notifications: `CASE WHEN notifications.integration_id IS NULL
    THEN ${through('incidents', 'notifications.incident_id')}
    ELSE ${through('integrations', 'notifications.integration_id')} END`,
  order_records: through('packs', 'order_records.pack_id'),
  pack_evidence: through('packs', 'pack_evidence.pack_id'),
  pack_pdfs: through('packs', 'pack_pdfs.pack_id'),
  pack_shares: through('packs', 'pack_shares.pack_id'),
  pings: through('checks', 'pings.check_id'),
  pending_notifications: through('integrations', 'pending_notifications.integration_id'),
  webhook_attempts: through('webhook_deliveries', 'webhook_attempts.delivery_id'),
  webhook_deliveries: through('webhook_endpoints', 'webhook_deliveries.endpoint_id'),
}

/** Idempotent. The caller owns the tables. @throws the server's error; 42501 without the right to create roles */
export async function secureRows(owner: pg.Client, login: { role: string; password: string }): Promise<void> {
  const role = pg.escapeIdentifier(login.role)
  await ensureRole(owner, PIPELINE_ROLE, 'NOLOGIN')
  // NOINHERIT: a session has the rights of the pipeline role only after SET ROLE.
  await ensureRole(owner, login.role, 'LOGIN NOINHERIT', login.password)
  await changeRoles(owner, `GRANT ${PIPELINE_ROLE} TO ${role}`)
  const both = `${PIPELINE_ROLE}, ${role}`
  await owner.query(`GRANT USAGE ON SCHEMA public TO ${both}`)
  await grantTables(owner, role, both)
  await owner.query(`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO ${both}`)
  const { rows } = await owner.query<{ name: string; secured: boolean }>(
    `SELECT relname AS name, relrowsecurity AS secured FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
  )
  for (const { name, secured } of rows) {
    const rule = tenantTables[name]
    if (rule !== undefined) await secureTable(owner, name, rule, secured)
  }
}

/** Shared sessions cannot set role and timeouts later (docs/adr/0012). Otherwise resets the defaults. */
export async function poolerDefaults(owner: pg.Client, login: string, timeoutMs: number | null): Promise<void> {
  const { rows } = await owner.query<{ database: string; had: boolean }>(
    `SELECT current_database() AS database, EXISTS (
       SELECT FROM pg_db_role_setting AS setting JOIN pg_database ON pg_database.oid = setdatabase
       JOIN pg_roles ON pg_roles.oid = setrole WHERE datname = current_database() AND rolname = $1) AS had`,
    [login],
  )
  const [{ database, had } = { database: '', had: false }] = rows
  const alter = `ALTER ROLE ${pg.escapeIdentifier(login)} IN DATABASE ${pg.escapeIdentifier(database)}`
  if (timeoutMs === null) {
    if (had) await changeRoles(owner, `${alter} RESET ALL`)
    return
  }
  for (const [name, value] of Object.entries({ ...sessionSettings(timeoutMs), role: PIPELINE_ROLE })) {
    await changeRoles(owner, `${alter} SET ${name} = '${value}'`)
  }
}

/** A rule with OR accepts a row that keeps one of its columns, so a session could move rows to other tenants. */
async function grantTables(owner: pg.Client, login: string, both: string): Promise<void> {
  const statements = [`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${both}`]
  for (const [table, rule] of Object.entries(tenantTables).filter(([, rule]) => isShared(rule))) {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
      [`public.${table}`],
    )
    const columns = rows.map(({ name }) => name).filter((name) => !ownerColumns(rule).includes(name))
    if (columns.length === 0) continue
    const names = columns.map((name) => pg.escapeIdentifier(name)).join(', ')
    statements.push(`REVOKE UPDATE ON ${table} FROM ${login}`, `GRANT UPDATE (${names}) ON ${table} TO ${login}`)
  }
  await changeRoles(owner, `BEGIN; ${statements.join('; ')}; COMMIT`)
}

export function ownerColumns(rule: string): string[] {
  return [...rule.matchAll(/(\w+) = \(SELECT/g)].map(([, column = '']) => column)
}

/** True for a rule with OR. It also matches tenants that may only read the row. */
function isShared(rule: string): boolean {
  return rule.includes(' OR ')
}

function policiesOf(table: string, rule: string): string {
  if (!isShared(rule)) return `CREATE POLICY tenant ON ${table} USING (${rule})`
  return `CREATE POLICY tenant ON ${table} USING (${rule}) WITH CHECK (${ofOrganisation});
    CREATE POLICY tenant_update ON ${table} FOR UPDATE USING (${rule})`
}

/** Uses one transaction per table to avoid deadlocks. */
async function secureTable(owner: pg.Client, table: string, rule: string, secured: boolean): Promise<void> {
  const policies = policiesOf(table, rule)
  const { rows } = await owner.query<{ rule: string | null }>(
    `SELECT obj_description(oid, 'pg_policy') AS rule FROM pg_policy
     WHERE polrelid = $1::regclass AND polname = 'tenant'`,
    [table],
  )
  if (secured && rows[0]?.rule === policies) return
  await changeRoles(
    owner,
    `
    BEGIN;
    DROP POLICY IF EXISTS tenant ON ${table};
    DROP POLICY IF EXISTS tenant_update ON ${table};
    DROP POLICY IF EXISTS pipeline ON ${table};
    ${policies};
    CREATE POLICY pipeline ON ${table} TO ${PIPELINE_ROLE} USING (true) WITH CHECK (true);
    COMMENT ON POLICY tenant ON ${table} IS ${pg.escapeLiteral(policies)};
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    COMMIT`,
  )
}

async function ensureRole(owner: pg.Client, name: string, options: string, password?: string): Promise<void> {
  const secret = password === undefined ? '' : ` PASSWORD ${pg.escapeLiteral(password)}`
  const { rowCount } = await owner.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [name])
  if (rowCount === 0) {
    try {
      await owner.query(`CREATE ROLE ${pg.escapeIdentifier(name)} ${options}${secret}`)
      return
    } catch (error) {
      // A concurrent migration of the same server was faster.
      if (!(error instanceof pg.DatabaseError) || (error.code !== '42710' && error.code !== '23505')) throw error
    }
  }
  if (secret !== '') await changeRoles(owner, `ALTER ROLE ${pg.escapeIdentifier(name)}${secret}`)
}

/** Retries, because roles belong to the server and a migration of another database may change the same rows. */
export async function changeRoles(owner: pg.Client, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await owner.query(statement)
      return
    } catch (error) {
      const isRace = error instanceof pg.DatabaseError && /concurrently updated/.test(error.message)
      if (!isRace || attempt === 8) throw error
      await owner.query('ROLLBACK') // ends a partial batch; only a warning if none is open
      await sleep(Math.random() * 50 * attempt)
    }
  }
}
