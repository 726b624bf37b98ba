import type { Knex } from 'knex'
import { execute, query } from '../../platform/database/sql.ts'
import { noteCheckLimit } from '../projects/quota-store.ts'

interface FoundCheck {
  checkId: number
  uuid: string
  projectId: number
}

/** The checks with these uuids, in one query; uuids without a check are left out. */
export async function findChecksByUuid(db: Knex, uuids: readonly string[]): Promise<Map<string, FoundCheck>> {
  const rows = await query<FoundCheck>(
    db,
    'SELECT id AS "checkId", uuid, project_id AS "projectId" FROM checks WHERE uuid = ANY(?::uuid[])',
    [uuids],
  )
  return new Map(rows.map((row) => [row.uuid, row]))
}

/**
 * The checks that pairs of ping key digest and slug stand for, in one query. A pair may have several.
 * @returns per index of the pair its checks
 */
export async function findChecksBySlug(
  db: Knex,
  pairs: readonly { digest: Buffer; slug: string }[],
): Promise<Map<number, FoundCheck[]>> {
  const rows = await query<FoundCheck & { pair: number }>(
    db,
    `SELECT t.pair, c.id AS "checkId", c.uuid, c.project_id AS "projectId"
     FROM unnest(?::int[], ?::bytea[], ?::text[]) AS t(pair, digest, slug)
     JOIN project_keys k ON k.digest = t.digest AND k.kind = 'ping' AND k.revoked_at IS NULL
     JOIN checks c ON c.project_id = k.project_id AND c.slug = t.slug AND c.slug <> ''`,
    [pairs.map((_, index) => index), pairs.map(({ digest }) => digest), pairs.map(({ slug }) => slug)],
  )
  return Map.groupBy(rows, (row) => row.pair)
}

export type Provisioned =
  | { outcome: 'created' | 'exists'; check: FoundCheck }
  | { outcome: 'ambiguous' }
  | { outcome: 'refused' }

/**
 * Makes the check that a ping by slug asks for with `create=1` (monitoring behaviour 1.6): simple, with the defaults
 * and every integration of the project. The project's row is locked, so that concurrent requests make one check.
 * `refused`: no such ping key, or the project has twice as many checks as it may.
 * @param defaultLimit checks a project may have that has no limit of its own
 */
export async function provisionCheck(
  tx: Knex,
  digests: readonly Buffer[],
  slug: string,
  defaultLimit: number,
): Promise<Provisioned> {
  const [project] = await query<{ id: number; checkLimit: number | null }>(
    tx,
    `SELECT id, check_limit AS "checkLimit" FROM projects
     WHERE id = (SELECT project_id FROM project_keys
                 WHERE digest = ANY(?::bytea[]) AND kind = 'ping' AND revoked_at IS NULL)
     FOR UPDATE`,
    [digests],
  )
  if (!project) return { outcome: 'refused' }
  const existing = await query<FoundCheck>(
    tx,
    'SELECT id AS "checkId", uuid, project_id AS "projectId" FROM checks WHERE project_id = ? AND slug = ? LIMIT 2',
    [project.id, slug],
  )
  const [first, second] = existing
  if (second) return { outcome: 'ambiguous' }
  if (first) return { outcome: 'exists', check: first }

  const limit = project.checkLimit ?? defaultLimit
  const count = await countChecks(tx, project.id)
  if (count >= limit) await noteCheckLimit(tx, project.id, limit)
  if (count >= 2 * limit) return { outcome: 'refused' }
  const [check] = await query<FoundCheck>(
    tx,
    `INSERT INTO checks (project_id, name, slug) VALUES (?, ?, ?)
     RETURNING id AS "checkId", uuid, project_id AS "projectId"`,
    [project.id, slug, slug],
  )
  if (!check) throw new Error('the database returned no row for a check it stored')
  await execute(
    tx,
    'INSERT INTO check_channels (check_id, channel_id) SELECT ?::bigint, id FROM channels WHERE project_id = ?',
    [check.checkId, project.id],
  )
  return { outcome: 'created', check }
}

async function countChecks(tx: Knex, projectId: number): Promise<number> {
  const [row] = await query<{ count: number }>(tx, 'SELECT count(*) AS count FROM checks WHERE project_id = ?', [
    projectId,
  ])
  return row?.count ?? 0
}
