import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

/**
 * Stores that ping keys were used, at most once a minute each.
 * @param digests of the keys
 * @param foldedDigests of keys in lower case; those that several keys have are left out, as in findChecksByFoldedKey
 */
export async function touchPingKeys(
  db: Knex,
  digests: readonly Buffer[],
  foldedDigests: readonly Buffer[],
): Promise<void> {
  await execute(
    db,
    `UPDATE project_keys SET last_used_at = now()
     WHERE (digest = ANY(?::bytea[]) OR folded_digest IN (
         SELECT folded_digest FROM project_keys WHERE folded_digest = ANY(?::bytea[]) AND revoked_at IS NULL
         GROUP BY folded_digest HAVING count(*) = 1)) AND kind = 'ping' AND revoked_at IS NULL
       AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    [[...digests], [...foldedDigests]],
  )
}

/** After a day without limited pings the count begins again. */
export async function countLimitedPings(db: Knex, counts: ReadonlyMap<number, number>): Promise<void> {
  // One order prevents a deadlock of two processes.
  const rows = [...counts].toSorted(([one], [other]) => one - other)
  await execute(
    db,
    `INSERT INTO limited_pings (check_id, count)
     SELECT c.id, t.count FROM unnest(?::bigint[], ?::bigint[]) AS t(check_id, count) JOIN checks c ON c.id = t.check_id
     ORDER BY c.id
     ON CONFLICT (check_id) DO UPDATE SET last_at = now(),
       count = excluded.count + CASE WHEN limited_pings.last_at > now() - interval '1 day' THEN limited_pings.count ELSE 0 END,
       since = CASE WHEN limited_pings.last_at > now() - interval '1 day' THEN limited_pings.since ELSE now() END`,
    [rows.map(([checkId]) => checkId), rows.map(([, count]) => count)],
  )
}

export interface LimitedPings {
  count: number
  since: Date
  lastAt: Date
}

const LIMITED_PINGS_COLUMNS = columns<LimitedPings>({ count: 'count', since: 'since', lastAt: 'last_at' })

/** Returns null if there were none within the last day. */
export async function findLimitedPings(db: Knex, checkId: number): Promise<LimitedPings | null> {
  const rows = await query(
    db,
    typed`SELECT ${LIMITED_PINGS_COLUMNS} FROM limited_pings
     WHERE check_id = ? AND last_at > now() - interval '1 day'`,
    [checkId],
  )
  return rows[0] ?? null
}
