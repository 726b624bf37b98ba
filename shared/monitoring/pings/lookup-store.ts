import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { query } from '../../platform/database/sql.ts'
import type { PingAuth, PingAuthRules } from './ping-secret.ts'

export interface FoundCheck {
  checkId: number
  uuid: string
  projectId: number
  /** what its rules ask of its pings, secrets sealed; absent for nearly all checks */
  rules?: SealedPingAuthRules | null
}

/** As PingAuthRules, with what is sealed still so. */
export interface SealedPingAuthRules {
  by: PingAuthRules['by']
  mode: PingAuth['mode'] | null
  sealedSecret: string | null
  sealedPrevious: string | null
  previousUntil: number | null
}

/** Read where the check asks for something alone. */
export const PING_AUTH = `
  CASE WHEN c.rule_bits & 10 <> 0 THEN (
    SELECT json_build_object('by', r.sources->>'by', 'mode', r.ping_auth->>'mode', 'sealedSecret', s.sealed_secret,
             'sealedPrevious', s.sealed_previous, 'previousUntil', ${microsOf('s.previous_until')})
    FROM check_rules r LEFT JOIN check_secrets s ON s.check_id = r.check_id WHERE r.check_id = c.id) END AS rules`

/** The checks with these uuids, in one query; uuids without a check are left out. */
export async function findChecksByUuid(db: Knex, uuids: readonly string[]): Promise<Map<string, FoundCheck>> {
  const rows = await query<FoundCheck>(
    db,
    `SELECT c.id AS "checkId", c.uuid, c.project_id AS "projectId", ${PING_AUTH} FROM checks c WHERE c.uuid = ANY(?::uuid[])`,
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
    `SELECT t.pair, c.id AS "checkId", c.uuid, c.project_id AS "projectId", ${PING_AUTH}
     FROM unnest(?::int[], ?::bytea[], ?::text[]) AS t(pair, digest, slug)
     JOIN project_keys k ON k.digest = t.digest AND k.kind = 'ping' AND k.revoked_at IS NULL
     JOIN checks c ON c.project_id = k.project_id AND c.slug = t.slug AND c.slug <> ''`,
    [pairs.map((_, index) => index), pairs.map(({ digest }) => digest), pairs.map(({ slug }) => slug)],
  )
  return Map.groupBy(rows, (row) => row.pair)
}
