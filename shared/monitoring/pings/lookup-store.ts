import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { PingAuth, PingAuthRules } from './ping-secret.ts'

export interface FoundCheck {
  checkId: number
  uuid: string
  projectId: number
  /** only for checks whose rules require a ping secret or name a source; null for all others */
  rules?: SealedPingAuthRules | null
}

export interface SealedPingAuthRules {
  sourceFrom: PingAuthRules['sourceFrom']
  mode: PingAuth['mode'] | null
  sealedSecret: string | null
  sealedPrevious: string | null
  previousUntil: number | null
}

export const FOUND_CHECK_COLUMNS = columns<FoundCheck>({
  checkId: 'c.id',
  uuid: 'c.uuid',
  projectId: 'c.project_id',
  // bit 2: the check has a source rule; bit 8: it has a ping secret
  rules: `CASE WHEN c.rule_bits & 10 <> 0 THEN (
    SELECT json_build_object('sourceFrom', r.sources->>'by', 'mode', r.ping_auth->>'mode', 'sealedSecret', s.sealed_secret,
             'sealedPrevious', s.sealed_previous, 'previousUntil', ${microsOf('s.previous_until')})
    FROM check_rules r LEFT JOIN check_secrets s ON s.check_id = r.check_id WHERE r.check_id = c.id) END`,
})

const PAIR_COLUMNS = columns<{ pair: number }>({ pair: 't.pair' })

const FIND_BY_UUID = typed`SELECT ${FOUND_CHECK_COLUMNS} FROM checks c WHERE c.uuid = ANY(?::uuid[])`

const FIND_BY_SLUG = typed`
  SELECT ${PAIR_COLUMNS}, ${FOUND_CHECK_COLUMNS}
  FROM unnest(?::int[], ?::bytea[], ?::text[]) AS t(pair, digest, slug)
  JOIN project_keys k ON k.digest = t.digest AND k.kind = 'ping' AND k.revoked_at IS NULL
  JOIN checks c ON c.project_id = k.project_id AND c.slug = t.slug AND c.slug <> ''`

const FIND_BY_FOLDED_KEY = typed`
  SELECT ${PAIR_COLUMNS}, ${FOUND_CHECK_COLUMNS}
  FROM (SELECT p.pair, p.slug, min(k.project_id) AS project_id
        FROM unnest(?::int[], ?::bytea[], ?::text[]) AS p(pair, digest, slug)
        JOIN project_keys k ON k.folded_digest = p.digest AND k.kind = 'ping' AND k.revoked_at IS NULL
        GROUP BY p.pair, p.slug HAVING count(*) = 1) AS t
  JOIN checks c ON c.project_id = t.project_id AND c.slug = t.slug AND c.slug <> ''`

/** Finds checks by uuid in one query; unknown uuids are absent. */
export async function findChecksByUuid(db: Knex, uuids: readonly string[]): Promise<Map<string, FoundCheck>> {
  const rows = await query(db, FIND_BY_UUID, [uuids])
  return new Map(rows.map((row) => [row.uuid, row]))
}

interface SlugPair {
  pair: number
  digest: Buffer
  slug: string
}

/**
 * Finds checks by pairs of ping key digest and slug, in one query. A pair may have several checks. Entries with the same
 * `pair` are digests of one key under different secrets.
 * @returns the checks by number of the pair
 */
export async function findChecksBySlug(db: Knex, pairs: readonly SlugPair[]): Promise<Map<number, FoundCheck[]>> {
  return await findByPairs(db, FIND_BY_SLUG, pairs)
}

/**
 * Does the work of findChecksBySlug with digests of keys in lower case. Keys that differ only in case are not found,
 * because the address does not show which of them is meant.
 */
export async function findChecksByFoldedKey(db: Knex, pairs: readonly SlugPair[]): Promise<Map<number, FoundCheck[]>> {
  return await findByPairs(db, FIND_BY_FOLDED_KEY, pairs)
}

async function findByPairs(
  db: Knex,
  statement: typeof FIND_BY_SLUG,
  pairs: readonly SlugPair[],
): Promise<Map<number, FoundCheck[]>> {
  const rows = await query(db, statement, [
    pairs.map(({ pair }) => pair),
    pairs.map(({ digest }) => digest),
    pairs.map(({ slug }) => slug),
  ])
  return Map.groupBy(rows, (row) => row.pair)
}
