import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import { listTags } from '../badges/store.ts'
import { resolveIntegrations } from '../checks/integrations-field.ts'
import { type CreationSettings, creationSettings, NO_PROVISIONING, type Provisioning } from '../checks/provisioning.ts'
import { applySpec } from '../checks/settings.ts'
import { assignIntegrations, insertCheck } from '../checks/store.ts'
import { requireTagCapacity } from '../checks/tags.ts'
import { listIntegrations } from '../integrations/store.ts'
import { noteCheckLimit } from '../projects/quota-store.ts'
import { FOUND_CHECK_COLUMNS, type FoundCheck } from './lookup-store.ts'

export type Provisioned =
  | { outcome: 'exists'; check: FoundCheck }
  | { outcome: 'created'; check: FoundCheck; leftOut: string[] }
  | { outcome: 'ambiguous' }
  | { outcome: 'refused' }

const PROJECT_COLUMNS = columns<{ id: number; checkLimit: number | null; provisioning: Partial<Provisioning> }>()(`
  id, check_limit, provisioning`)

/**
 * A ping by slug with `create=1` creates a check with the defaults and all integrations, unless project or query set
 * others (docs/spec/monitoring.md#creating-a-check-by-ping). Locks the project's row, so that concurrent requests
 * create one check. Refuses unknown keys, and projects with twice their limit of checks.
 */
export async function provisionCheck(
  tx: Knex,
  digests: readonly Buffer[],
  { slug, requested }: { slug: string; requested: URLSearchParams },
  defaultLimit: number,
): Promise<Provisioned> {
  const [project] = await query(
    tx,
    typed`SELECT ${PROJECT_COLUMNS} FROM projects
     WHERE id = (SELECT project_id FROM project_keys
                 WHERE digest = ANY(?::bytea[]) AND kind = 'ping' AND revoked_at IS NULL)
     FOR UPDATE`,
    [digests],
  )
  if (!project) return { outcome: 'refused' }
  const existing = await query(
    tx,
    typed`SELECT ${FOUND_CHECK_COLUMNS} FROM checks c WHERE c.project_id = ? AND c.slug = ? LIMIT 2`,
    [project.id, slug],
  )
  const [first, second] = existing
  if (second) return { outcome: 'ambiguous' }
  if (first) return { outcome: 'exists', check: first }

  const limit = project.checkLimit ?? defaultLimit
  const count = await countChecks(tx, project.id)
  if (count >= limit) await noteCheckLimit(tx, project.id, limit)
  if (count >= 2 * limit) return { outcome: 'refused' }
  const creation = creationSettings({ ...NO_PROVISIONING, ...project.provisioning }, requested)
  const check = await createFromPing(tx, project.id, slug, creation)
  return { outcome: 'created', check, leftOut: creation.leftOut }
}

/** Adds invalid settings to `leftOut`. */
async function createFromPing(
  tx: Knex,
  projectId: number,
  slug: string,
  creation: CreationSettings,
): Promise<FoundCheck> {
  if (creation.spec.tags !== undefined && !(await fitsTags(tx, projectId, creation.spec.tags))) {
    delete creation.spec.tags
    creation.leftOut.push('tags')
  }
  const settings = applySpec(null, creation.spec, { slugFromName: false })
  const check = await insertCheck(tx, projectId, { ...settings, name: slug, slug })
  const integrations = (await listIntegrations(tx, projectId)).map(({ uuid, name }) => ({ id: uuid, name }))
  const choice = creation.spec.channels === undefined ? null : resolveIntegrations(creation.spec.channels, integrations)
  if (choice && !choice.ok) creation.leftOut.push('channels')
  await assignIntegrations(tx, check, choice?.ok ? choice.ids : integrations.map(({ id }) => id))
  if (creation.policy !== null) {
    const named = await query(
      tx,
      `INSERT INTO check_rules (check_id, policy_id) SELECT ?, id FROM alert_policies WHERE project_id = ? AND uuid = ?::uuid
       RETURNING check_id`,
      [check.id, projectId, creation.policy],
    )
    if (named.length === 0) creation.leftOut.push('policy')
  }
  return { checkId: check.id, uuid: check.uuid, projectId }
}

async function fitsTags(tx: Knex, projectId: number, tags: string): Promise<boolean> {
  const before = await listTags(tx, projectId)
  try {
    requireTagCapacity(before, [...before, tags])
    return true
  } catch (error) {
    if (error instanceof ValidationError) return false
    throw error
  }
}

async function countChecks(tx: Knex, projectId: number): Promise<number> {
  const [row] = await query<{ count: number }>(tx, 'SELECT count(*) AS count FROM checks WHERE project_id = ?', [
    projectId,
  ])
  return row?.count ?? 0
}

export async function findProvisioning(db: Knex, projectId: number): Promise<Provisioning> {
  const [row] = await query<{ provisioning: Partial<Provisioning> }>(
    db,
    'SELECT provisioning FROM projects WHERE id = ?',
    [projectId],
  )
  return { ...NO_PROVISIONING, ...row?.provisioning }
}

export async function lockProvisioning(tx: Knex, projectId: number): Promise<Provisioning> {
  await query(tx, 'SELECT 1 FROM projects WHERE id = ? FOR NO KEY UPDATE', [projectId])
  return await findProvisioning(tx, projectId)
}

export async function saveProvisioning(tx: Knex, projectId: number, provisioning: Provisioning): Promise<void> {
  await query(tx, 'UPDATE projects SET provisioning = ?::jsonb WHERE id = ? RETURNING id', [
    JSON.stringify(provisioning),
    projectId,
  ])
}
