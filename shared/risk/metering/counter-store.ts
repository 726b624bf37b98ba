import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { execute, query } from '../../platform/database/sql.ts'

export interface Taking {
  name: string
  count: number
  /** 0 means no limit */
  limit: number
}

/**
 * Limits are per Indian day; their fixed order prevents deadlocks. Returns seconds until the next day after a
 * refusal, when the caller rolls back; null when all were taken.
 */
export async function reserveUnits(tx: Knex, owner: Owner, takings: readonly Taking[]): Promise<number | null> {
  const limited = takings.filter(({ limit, count }) => limit > 0 && count > 0)
  if (limited.length === 0) return null
  const names = limited.map(({ name }) => name)
  const limits = limited.map(({ limit }) => limit)
  const taken = await execute(
    tx,
    `INSERT INTO daily_counters AS c (organisation_id, env, name, on_date, count)
     SELECT ?, ?, t.name, (now() AT TIME ZONE 'Asia/Kolkata')::date, t.count
     FROM unnest(?::text[], ?::int[], ?::int[]) WITH ORDINALITY AS t(name, count, most, place)
     WHERE t.count <= t.most ORDER BY t.place
     ON CONFLICT (organisation_id, env, name, on_date) DO UPDATE SET count = c.count + excluded.count
     WHERE c.count + excluded.count <=
       (SELECT l.most FROM unnest(?::text[], ?::int[]) AS l(name, most) WHERE l.name = c.name)`,
    [owner.organisationId, owner.env, names, limited.map(({ count }) => count), limits, names, limits],
  )
  if (taken === limited.length) return null
  const [row] = await query<{ seconds: number }>(
    tx,
    `SELECT ceil(extract(epoch FROM (date_trunc('day', now() AT TIME ZONE 'Asia/Kolkata') + interval '1 day')
       AT TIME ZONE 'Asia/Kolkata' - now()))::int AS seconds`,
  )
  return row?.seconds ?? 60
}

export async function pruneCounters(db: Knex): Promise<void> {
  await execute(db, 'DELETE FROM daily_counters WHERE on_date < now()::date - 3')
}
