import type { Knex } from 'knex'
import { execute, query } from '../../platform/database/sql.ts'
import type { Policy, Severity } from './policy.ts'
import { NO_RULES, type PolicyFields, type RuleFields } from './read-policy.ts'

/** A policy and how often it was changed. */
export interface StoredPolicy extends Policy {
  projectId: number
  version: number
}

const COLUMNS = 'id, uuid, project_id AS "projectId", name, match, position, plan, version'

/** The policies of projects, the oldest first. */
export async function policiesOf(db: Knex, projectIds: readonly number[]): Promise<StoredPolicy[]> {
  return await query<StoredPolicy>(
    db,
    `SELECT ${COLUMNS} FROM alert_policies WHERE project_id = ANY(?::bigint[]) ORDER BY id`,
    [projectIds],
  )
}

/** What the rules of a check say of its alerts. */
export interface AlertRules {
  checkId: number
  policyId: number | null
  severity: Severity
  hasParents: boolean
}

/** The rules of those checks that have any. */
export async function alertRulesOf(db: Knex, checkIds: readonly number[]): Promise<AlertRules[]> {
  return await query<AlertRules>(
    db,
    `SELECT check_id AS "checkId", policy_id AS "policyId", severity, parents <> '[]' AS "hasParents"
     FROM check_rules WHERE check_id = ANY(?::bigint[])`,
    [checkIds],
  )
}

/** @returns null when the project has no such policy */
export async function findPolicy(db: Knex, projectId: number, uuid: string): Promise<StoredPolicy | null> {
  const rows = await query<StoredPolicy>(
    db,
    `SELECT ${COLUMNS} FROM alert_policies WHERE project_id = ? AND uuid = ?::uuid`,
    [projectId, uuid],
  )
  return rows[0] ?? null
}

/** @param uuid the identity that a document gives it; a new one by default */
export async function insertPolicy(
  tx: Knex,
  projectId: number,
  fields: PolicyFields,
  uuid: string | null = null,
): Promise<StoredPolicy> {
  const [policy] = await query<StoredPolicy>(
    tx,
    `INSERT INTO alert_policies (uuid, project_id, name, match, position, plan)
     VALUES (coalesce(?::uuid, gen_random_uuid()), ?, ?, ?, ?, ?::jsonb) RETURNING ${COLUMNS}`,
    [uuid, projectId, fields.name, fields.match, fields.position, JSON.stringify(fields.plan)],
  )
  if (!policy) throw new Error('an inserted row is returned')
  return policy
}

/** @returns null when it was deleted meanwhile */
export async function changePolicy(tx: Knex, id: number, fields: PolicyFields): Promise<StoredPolicy | null> {
  const rows = await query<StoredPolicy>(
    tx,
    `UPDATE alert_policies SET name = ?, match = ?, position = ?, plan = ?::jsonb, version = version + 1 WHERE id = ?
     RETURNING ${COLUMNS}`,
    [fields.name, fields.match, fields.position, JSON.stringify(fields.plan), id],
  )
  return rows[0] ?? null
}

/** @returns whether there was one */
export async function deletePolicy(tx: Knex, id: number): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM alert_policies WHERE id = ?', [id])) === 1
}

/** Something that decides about alerts was changed: alerters drop what they remember, and look at what is open. */
export async function alertingChanged(tx: Knex, projectId: number): Promise<void> {
  await execute(tx, 'UPDATE projects SET alerting_version = alerting_version + 1 WHERE id = ?', [projectId])
  await execute(tx, 'UPDATE incidents SET next_at = now() WHERE project_id = ? AND resolved_at IS NULL', [projectId])
}

/** The rules of a check; the defaults when it has none. */
export async function findRules(db: Knex, checkId: number): Promise<RuleFields> {
  return (await rulesOfChecks(db, [checkId])).get(checkId) ?? NO_RULES
}

/** The rules of those checks that have any, by the id of the check. */
export async function rulesOfChecks(db: Knex, checkIds: readonly number[]): Promise<Map<number, RuleFields>> {
  const rows = await query<RuleFields & { id: number }>(
    db,
    `SELECT r.check_id AS id, p.uuid AS policy, r.severity, r.parents, r.parents_mode, r.run, r.sources, r.ping_auth,
            r.previews
     FROM check_rules r LEFT JOIN alert_policies p ON p.id = r.policy_id WHERE r.check_id = ANY(?::bigint[])`,
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
}

/** Makes the open incidents of a check due: something happened that may end what holds them, or end them. */
export async function makeIncidentDue(tx: Knex, checkId: number): Promise<void> {
  await execute(tx, 'UPDATE incidents SET next_at = now() WHERE check_id = ? AND resolved_at IS NULL', [checkId])
}

/** What the rules of one check say of its alerts; null when it has none. */
export async function findAlertRules(db: Knex, checkId: number): Promise<AlertRules | null> {
  const [rules] = await alertRulesOf(db, [checkId])
  return rules ?? null
}

/** What decides which policy applies to each check of a project. */
export async function projectTags(db: Knex, projectId: number): Promise<{ tags: string; policyId: number | null }[]> {
  return await query(
    db,
    `SELECT c.tags, r.policy_id AS "policyId" FROM checks c LEFT JOIN check_rules r ON r.check_id = c.id
     WHERE c.project_id = ?`,
    [projectId],
  )
}
