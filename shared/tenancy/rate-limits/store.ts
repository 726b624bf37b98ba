import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

/** A bucket that does not exist yet is full. */
export interface TokenRequest {
  bucket: string
  wanted: number
  capacity: number
}

export interface TokenGrant {
  bucket: string
  granted: number
  left: number
}

const CAPACITY = '(EXCLUDED.tokens + EXCLUDED.granted)'
const REFILLED = `LEAST(${CAPACITY},
  r.tokens + GREATEST(0, extract(epoch FROM EXCLUDED.updated_at - r.updated_at)) * ${CAPACITY} * ?::float8)`

const TOKEN_GRANT_COLUMNS = columns<TokenGrant>({ bucket: 'bucket', granted: 'granted', left: 'tokens' })

/**
 * One statement for any number of buckets, locked in the order of names. Refills by the database's clock and grants
 * whole tokens. `sharePerSecond` of its capacity returns to a bucket each second.
 */
export async function takeTokens(
  db: Knex,
  requests: readonly TokenRequest[],
  sharePerSecond: number,
): Promise<TokenGrant[]> {
  const given = `LEAST(EXCLUDED.granted, floor(${REFILLED}))`
  const rows = await query(
    db,
    typed`INSERT INTO rate_limits AS r (bucket, tokens, granted, updated_at)
     SELECT bucket, capacity - LEAST(wanted, capacity), LEAST(wanted, capacity), now()
     FROM unnest(?::text[], ?::int[], ?::int[]) AS requested(bucket, wanted, capacity) ORDER BY bucket
     ON CONFLICT (bucket) DO UPDATE SET
       granted = ${given}::int,
       tokens = ${REFILLED} - ${given},
       updated_at = GREATEST(r.updated_at, EXCLUDED.updated_at)
     RETURNING ${TOKEN_GRANT_COLUMNS}`,
    [
      requests.map(({ bucket }) => bucket),
      requests.map(({ wanted }) => wanted),
      requests.map(({ capacity }) => capacity),
      sharePerSecond,
      sharePerSecond,
      sharePerSecond,
    ],
  )
  return rows
}

export async function returnTokens(db: Knex, buckets: readonly { bucket: string; capacity: number }[]): Promise<void> {
  await execute(
    db,
    `UPDATE rate_limits r SET tokens = LEAST(given.capacity, r.tokens + 1)
     FROM unnest(?::text[], ?::int[]) AS given(bucket, capacity) WHERE r.bucket = given.bucket`,
    [buckets.map(({ bucket }) => bucket), buckets.map(({ capacity }) => capacity)],
  )
}

/** After an hour buckets are full again. */
export async function pruneBuckets(db: Knex): Promise<void> {
  await execute(db, "DELETE FROM rate_limits WHERE updated_at < now() - interval '1 hour'")
}

export function secondsUntilToken(left: number, capacity: number, sharePerSecond: number): number {
  return Math.max(1, Math.ceil((1 - left) / (capacity * sharePerSecond)))
}
