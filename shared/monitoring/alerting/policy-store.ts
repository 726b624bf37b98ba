import type { Knex } from 'knex'
import { query } from '../../platform/database/sql.ts'
import type { Policy, Severity } from './policy.ts'

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
    `SELECT ${COLUMNS} FROM policies WHERE project_id = ANY(?::bigint[]) ORDER BY id`,
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
