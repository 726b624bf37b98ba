import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Policy, Severity, StepTarget } from './policy.ts'
import { filterRulesOf, NO_RULES, type PolicyFields, type RuleFields } from './read-policy.ts'

export interface StoredPolicy extends Policy {
  projectId: number
  version: number
}

const COLUMNS = columns<StoredPolicy>()('id, uuid, project_id, name, match, position, plan, version')

export async function policiesOf(db: Knex, projectIds: readonly number[]): Promise<StoredPolicy[]> {
  return await query(db, typed`SELECT ${COLUMNS} FROM alert_policies WHERE project_id = ANY(?::bigint[]) ORDER BY id`, [
    projectIds,
  ])
}

export interface AlertRules {
  checkId: number
  policyId: number | null
  severity: Severity
  hasParents: boolean
}

const ALERT_RULES_COLUMNS = columns<AlertRules>()(`check_id, policy_id, severity, parents <> '[]' AS hasParents`)

export async function alertRulesOf(db: Knex, checkIds: readonly number[]): Promise<AlertRules[]> {
  return await query(db, typed`SELECT ${ALERT_RULES_COLUMNS} FROM check_rules WHERE check_id = ANY(?::bigint[])`, [
    checkIds,
  ])
}

export async function findPolicy(db: Knex, projectId: number, uuid: string): Promise<StoredPolicy | null> {
  const rows = await query(db, typed`SELECT ${COLUMNS} FROM alert_policies WHERE project_id = ? AND uuid = ?::uuid`, [
    projectId,
    uuid,
  ])
  return rows[0] ?? null
}

/** `uuid` is the identity that a document gives; a new one by default. */
export async function insertPolicy(
  tx: Knex,
  projectId: number,
  fields: PolicyFields,
  uuid: string | null = null,
): Promise<StoredPolicy> {
  const [policy] = await query(
    tx,
    typed`INSERT INTO alert_policies (uuid, project_id, name, match, position, plan)
     VALUES (coalesce(?::uuid, gen_random_uuid()), ?, ?, ?, ?, ?::jsonb) RETURNING ${COLUMNS}`,
    [uuid, projectId, fields.name, fields.match, fields.position, JSON.stringify(fields.plan)],
  )
  if (!policy) throw new Error('an inserted row is returned')
  return policy
}

export async function changePolicy(tx: Knex, id: number, fields: PolicyFields): Promise<StoredPolicy | null> {
  const rows = await query(
    tx,
    typed`UPDATE alert_policies SET name = ?, match = ?, position = ?, plan = ?::jsonb, version = version + 1 WHERE id = ?
     RETURNING ${COLUMNS}`,
    [fields.name, fields.match, fields.position, JSON.stringify(fields.plan), id],
  )
  return rows[0] ?? null
}

export async function deletePolicy(tx: Knex, id: number): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM alert_policies WHERE id = ?', [id])) === 1
}

const NAMES_TARGET = `(p.plan @> jsonb_build_object('steps', jsonb_build_array(jsonb_build_object('people', jsonb_build_array(t.target))))
  OR p.plan @> jsonb_build_object('fallback', jsonb_build_object('people', jsonb_build_array(t.target))))`

const NAMING_COLUMNS = columns<Pick<StoredPolicy, 'name' | 'projectId'>>()('p.name, p.project_id')

/** Returns the policies of the organisation that name a schedule, oldest first. */
export async function policiesNaming(
  db: Knex,
  organisationId: number,
  schedule: string,
): Promise<Pick<StoredPolicy, 'name' | 'projectId'>[]> {
  return await query(
    db,
    typed`SELECT ${NAMING_COLUMNS} FROM (SELECT ?::jsonb AS target) t, alert_policies p
       JOIN projects o ON o.id = p.project_id WHERE o.organisation_id = ? AND ${NAMES_TARGET} ORDER BY p.id`,
    [JSON.stringify({ schedule }), organisationId],
  )
}

const SCHEDULING_COLUMNS = columns<Pick<StoredPolicy, 'name' | 'plan' | 'projectId'>>()('p.name, p.plan, p.project_id')

/** Returns the policies of the organisation that name any schedule, oldest first. */
export async function policiesWithSchedules(
  db: Knex,
  organisationId: number,
): Promise<Pick<StoredPolicy, 'name' | 'plan' | 'projectId'>[]> {
  return await query(
    db,
    typed`SELECT ${SCHEDULING_COLUMNS} FROM alert_policies p JOIN projects o ON o.id = p.project_id
     WHERE o.organisation_id = ? AND (jsonb_path_exists(p.plan, '$.steps.people.schedule')
       OR jsonb_path_exists(p.plan, '$.fallback.people.schedule')) ORDER BY p.id`,
    [organisationId],
  )
}

const PLAN_COLUMNS = columns<Pick<StoredPolicy, 'id' | 'plan'>>()('p.id, p.plan')

/** Replaces the previous address of a person in the policies of all organisations. */
export async function replacePolicyAddress(tx: Knex, userId: number, before: string, after: string): Promise<void> {
  const rows = await query(
    tx,
    typed`SELECT ${PLAN_COLUMNS} FROM (SELECT ?::jsonb AS target) t, alert_policies p JOIN projects o ON o.id = p.project_id
     WHERE o.organisation_id IN (SELECT organisation_id FROM memberships WHERE user_id = ?) AND ${NAMES_TARGET}
     ORDER BY p.id FOR UPDATE OF p`,
    [JSON.stringify({ person: before }), userId],
  )
  const renamed = (target: StepTarget) => ('person' in target && target.person === before ? { person: after } : target)
  for (const { id, plan } of rows) {
    const steps = plan.steps.map((step) => ({ ...step, people: step.people.map(renamed) }))
    const fallback = plan.fallback && { ...plan.fallback, people: plan.fallback.people.map(renamed) }
    const changed = JSON.stringify({ ...plan, steps, fallback })
    await execute(tx, 'UPDATE alert_policies SET plan = ?::jsonb, version = version + 1 WHERE id = ?', [changed, id])
  }
}

const OWNER_COLUMNS = columns<{ id: number; organisationId: number }>()('id, organisation_id')

/** Maps projects to their organisations. */
export async function organisationsOf(db: Knex, projectIds: readonly number[]): Promise<Map<number, number>> {
  const rows = await query(db, typed`SELECT ${OWNER_COLUMNS} FROM projects WHERE id = ANY(?::bigint[])`, [projectIds])
  return new Map(rows.map(({ id, organisationId }) => [id, organisationId]))
}

/** Invalidates the alerters' cache and makes open incidents due. */
export async function alertingChanged(tx: Knex, projectId: number): Promise<void> {
  await execute(tx, 'UPDATE projects SET alerting_version = alerting_version + 1 WHERE id = ?', [projectId])
  await execute(tx, 'UPDATE incidents SET next_at = now() WHERE project_id = ? AND resolved_at IS NULL', [projectId])
}

export async function findRules(db: Knex, checkId: number): Promise<RuleFields> {
  return (await rulesOfChecks(db, [checkId])).get(checkId) ?? NO_RULES
}

const RULES_COLUMNS = columns<RuleFields & { id: number }>()(`
  r.check_id AS id, p.uuid AS policy, r.severity, r.parents, r.parents_mode AS parents_mode, r.run, r.sources,
  r.ping_auth AS ping_auth, r.previews, c.filter_rules->>'json' AS filter_json, c.filter_rules->>'else' AS filter_else,
  c.early_seconds AS early`)

export async function rulesOfChecks(db: Knex, checkIds: readonly number[]): Promise<Map<number, RuleFields>> {
  const rows = await query(
    db,
    typed`SELECT ${RULES_COLUMNS}
     FROM check_rules r JOIN checks c ON c.id = r.check_id LEFT JOIN alert_policies p ON p.id = r.policy_id WHERE r.check_id = ANY(?::bigint[])`,
    [checkIds],
  )
  return new Map(rows.map(({ id, ...rules }) => [id, rules]))
}

export async function saveRules(
  tx: Knex,
  checkId: number,
  { policyId, ...rules }: Omit<RuleFields, 'policy'> & { policyId: number | null },
): Promise<void> {
  const { run, sources, ping_auth: auth } = rules
  const jsonOrNull = (value: object | null) => (value === null ? null : JSON.stringify(value))
  await execute(
    tx,
    `INSERT INTO check_rules (check_id, policy_id, severity, parents, parents_mode, run, sources, ping_auth, previews)
     VALUES (?, ?, ?, ?::jsonb, ?, ?::jsonb, ?::jsonb, ?::jsonb, ?)
     ON CONFLICT (check_id) DO UPDATE SET policy_id = excluded.policy_id, severity = excluded.severity,
       parents = excluded.parents, parents_mode = excluded.parents_mode, run = excluded.run,
       sources = excluded.sources, ping_auth = excluded.ping_auth, previews = excluded.previews`,
    [
      checkId,
      policyId,
      rules.severity,
      JSON.stringify(rules.parents),
      rules.parents_mode,
      jsonOrNull(run),
      jsonOrNull(sources),
      jsonOrNull(auth),
      rules.previews,
    ],
  )
  // Read with each ping, so they are columns of the check.
  await execute(
    tx,
    `UPDATE checks SET filter_rules = t.filter_rules, early_seconds = t.early_seconds
     FROM (SELECT ?::jsonb AS filter_rules, ?::int AS early_seconds) t
     WHERE id = ? AND (checks.filter_rules, checks.early_seconds) IS DISTINCT FROM (t.filter_rules, t.early_seconds)`,
    [jsonOrNull(filterRulesOf(rules)), rules.early, checkId],
  )
}

/** A change may end their suppression or resolve them. */
export async function makeIncidentDue(tx: Knex, checkId: number): Promise<void> {
  await execute(tx, 'UPDATE incidents SET next_at = now() WHERE check_id = ? AND resolved_at IS NULL', [checkId])
}

export async function findAlertRules(db: Knex, checkId: number): Promise<AlertRules | null> {
  const [rules] = await alertRulesOf(db, [checkId])
  return rules ?? null
}

const PROJECT_TAGS_COLUMNS = columns<{ tags: string; policyId: number | null }>()('c.tags, r.policy_id')

export async function projectTags(db: Knex, projectId: number): Promise<{ tags: string; policyId: number | null }[]> {
  return await query(
    db,
    typed`SELECT ${PROJECT_TAGS_COLUMNS} FROM checks c LEFT JOIN check_rules r ON r.check_id = c.id
     WHERE c.project_id = ?`,
    [projectId],
  )
}
