import type { Knex } from 'knex'
import { execute, query } from '../../platform/database/sql.ts'
import type { Owner } from '../jobs/job.ts'

/**
 * Takes of a limit per organisation, environment and Indian day.
 * @param limit 0 is no limit
 * @returns seconds until the next Indian day when there is not enough left; null when it was taken
 */
export async function takeOfDay(
  tx: Knex,
  owner: Owner,
  name: string,
  count: number,
  limit: number,
): Promise<number | null> {
  if (limit === 0) return null
  const taken = await execute(
    tx,
    `INSERT INTO daily_counters AS c (organisation_id, env, name, on_date, count)
     SELECT ?, ?, ?, (now() AT TIME ZONE 'Asia/Kolkata')::date, ?::int WHERE ?::int <= ?::int
     ON CONFLICT (organisation_id, env, name, on_date) DO UPDATE SET count = c.count + excluded.count
     WHERE c.count + excluded.count <= ?::int`,
    [owner.organisationId, owner.env, name, count, count, limit, limit],
  )
  if (taken === 1) return null
  const [row] = await query<{ seconds: number }>(
    tx,
    `SELECT ceil(extract(epoch FROM (date_trunc('day', now() AT TIME ZONE 'Asia/Kolkata') + interval '1 day')
       AT TIME ZONE 'Asia/Kolkata' - now()))::int AS seconds`,
  )
  return row?.seconds ?? 60
}

/** Forgets days that are over. */
export async function pruneCounters(db: Knex): Promise<void> {
  await execute(db, 'DELETE FROM daily_counters WHERE on_date < now()::date - 3')
}
