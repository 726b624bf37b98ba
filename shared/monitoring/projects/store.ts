import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { KeyKind } from './api-key.ts'

export interface Project {
  id: number
  uuid: string
  organisationId: number
  name: string
  /** names the project in badge URLs; no secret */
  badgeKey: string
  /** null: the setting for all projects applies */
  checkLimit: number | null
}

/** A key that was presented, and its owner. */
export interface ProjectKey {
  keyId: number
  /** its name, or its first characters if it has none */
  label: string
  kind: KeyKind
  project: Project
}

const PROJECT_COLUMNS = columns<Project>()(`
  projects.id, projects.uuid, projects.organisation_id, projects.name, projects.badge_key, projects.check_limit`)

const PROJECT_KEY_COLUMNS = columns<Omit<ProjectKey, 'project'>>()(`
  project_keys.id AS keyId, project_keys.kind,
  CASE WHEN project_keys.name = '' THEN project_keys.prefix || '…' ELSE project_keys.name END AS label`)

/** Returns null if the key is unknown or revoked. `digests` use every secret key in use. */
export async function findProjectKey(db: Knex, digests: readonly Buffer[]): Promise<ProjectKey | null> {
  const rows = await query(
    db,
    typed`SELECT ${PROJECT_KEY_COLUMNS}, ${PROJECT_COLUMNS}
     FROM project_keys JOIN projects ON projects.id = project_keys.project_id
     WHERE project_keys.digest = ANY(?::bytea[]) AND project_keys.revoked_at IS NULL`,
    [digests],
  )
  const [row] = rows
  if (!row) return null
  const { keyId, label, kind, ...project } = row
  return { keyId, label, kind, project }
}

/** At most once a minute. */
export async function touchProjectKey(db: Knex, keyId: number): Promise<void> {
  await execute(
    db,
    `UPDATE project_keys SET last_used_at = now()
     WHERE id = ? AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    [keyId],
  )
}

export async function insertProject(
  db: Knex,
  project: { organisationId: number; name: string; checkLimit?: number },
): Promise<Project> {
  const rows = await query(
    db,
    typed`INSERT INTO projects (organisation_id, name, check_limit) VALUES (?, ?, ?) RETURNING ${PROJECT_COLUMNS}`,
    [project.organisationId, project.name, project.checkLimit ?? null],
  )
  return first(rows)
}

export async function findProject(db: Knex, uuid: string): Promise<Project | null> {
  const rows = await query(db, typed`SELECT ${PROJECT_COLUMNS} FROM projects WHERE uuid = ?`, [uuid])
  return rows[0] ?? null
}

export async function findProjectByBadgeKey(db: Knex, badgeKey: string): Promise<Project | null> {
  const rows = await query(db, typed`SELECT ${PROJECT_COLUMNS} FROM projects WHERE badge_key = ?`, [badgeKey])
  return rows[0] ?? null
}

/** Serialises the creation of checks: two equal upserts make one check, and the limit is never exceeded. */
export async function lockProject(tx: Knex, projectId: number): Promise<void> {
  await execute(tx, 'SELECT id FROM projects WHERE id = ? FOR NO KEY UPDATE', [projectId])
}

/** `sealed` keeps a ping key readable for pages that show ping URLs. */
export async function insertProjectKey(
  db: Knex,
  key: {
    projectId: number
    kind: KeyKind
    prefix: string
    digest: Buffer
    /** digest of a ping key in lower case, by which e-mail addresses find it */
    foldedDigest?: Buffer
    sealed?: string
    name?: string
    createdBy?: string
  },
): Promise<number> {
  const rows = await query<{ id: number }>(
    db,
    `INSERT INTO project_keys (project_id, kind, prefix, digest, folded_digest, sealed, name, created_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    [
      key.projectId,
      key.kind,
      key.prefix,
      key.digest,
      key.foldedDigest ?? null,
      key.sealed ?? null,
      key.name ?? '',
      key.createdBy ?? '',
    ],
  )
  return first(rows).id
}

interface KeyOwner {
  projectId: number
  kind: KeyKind
  isRevoked: boolean
}

const KEY_OWNER_COLUMNS = columns<KeyOwner>()('project_id, kind, revoked_at IS NOT NULL AS isRevoked')

/** Returns the project that has or had a key, or null. @param digests of the key, by every current SECRET_KEY */
export async function findKeyOwner(db: Knex, digests: readonly Buffer[]): Promise<KeyOwner | null> {
  const rows = await query(db, typed`SELECT ${KEY_OWNER_COLUMNS} FROM project_keys WHERE digest = ANY(?::bytea[])`, [
    digests,
  ])
  return rows[0] ?? null
}

/** A key for the settings pages. The key itself is not stored. */
export interface ListedKey {
  id: number
  kind: KeyKind
  prefix: string
  name: string
  createdAt: Date
  /** its creator as in the audit log; empty for older keys */
  createdBy: string
  lastUsedAt: Date | null
  /** when a rotation created its successor; it still works */
  replacedAt: Date | null
  /** ping keys only */
  sealed: string | null
}

const LISTED_KEY_COLUMNS = columns<ListedKey>()(`
  id, kind, prefix, name, created_at, created_by, last_used_at, replaced_at, sealed`)

/** Omits revoked keys; oldest first. */
export async function listProjectKeys(db: Knex, projectId: number): Promise<ListedKey[]> {
  const rows = await query(
    db,
    typed`SELECT ${LISTED_KEY_COLUMNS} FROM project_keys WHERE project_id = ? AND revoked_at IS NULL ORDER BY id`,
    [projectId],
  )
  return rows
}

/** Returns the ping key for URLs, encrypted; null without one. Replaced keys come last. */
export function sealedPingKey(keys: readonly ListedKey[]): string | null {
  const pingKeys = keys.filter(({ kind }) => kind === 'ping')
  return (pingKeys.find(({ replacedAt }) => replacedAt === null) ?? pingKeys[0])?.sealed ?? null
}

const REPLACED_KEY_COLUMNS = columns<Pick<ListedKey, 'kind' | 'name'>>()('kind, name')

/** Marks a key as replaced. It still works. Returns null for a missing, revoked or replaced key. */
export async function replaceProjectKey(
  tx: Knex,
  projectId: number,
  keyId: number,
): Promise<Pick<ListedKey, 'kind' | 'name'> | null> {
  const rows = await query(
    tx,
    typed`UPDATE project_keys SET replaced_at = now()
     WHERE project_id = ? AND id = ? AND revoked_at IS NULL AND replaced_at IS NULL RETURNING ${REPLACED_KEY_COLUMNS}`,
    [projectId, keyId],
  )
  return rows[0] ?? null
}

/** Caches of processes follow within seconds. */
export async function revokeProjectKey(db: Knex, projectId: number, keyId: number): Promise<boolean> {
  const changed = await execute(
    db,
    'UPDATE project_keys SET revoked_at = now() WHERE project_id = ? AND id = ? AND revoked_at IS NULL',
    [projectId, keyId],
  )
  return changed === 1
}

function first<T>(rows: readonly T[]): T {
  const [row] = rows
  if (!row) throw new Error('the statement returned no row')
  return row
}

const ORGANISATION_COLUMNS = columns<{ organisation: string }>({ organisation: 'organisations.name' })

/** For the operator; oldest first. */
export async function listProjects(db: Knex): Promise<(Project & { organisation: string })[]> {
  return await query(
    db,
    typed`SELECT ${PROJECT_COLUMNS}, ${ORGANISATION_COLUMNS}
     FROM projects JOIN organisations ON organisations.id = projects.organisation_id ORDER BY projects.id`,
  )
}
