import type { Knex } from 'knex'
import { execute, query } from '../../platform/database/sql.ts'
import type { Family } from '../../tenancy/oauth/families.ts'

/** One metered call. `unitKey` names what it produced: the same one twice counts once. */
export interface UsageUnit {
  organisationId: number
  env: string
  family: Family
  unitKey: string
}

/** Counts a call in the transaction of its effect. */
export async function recordUsage(tx: Knex, unit: UsageUnit): Promise<void> {
  await execute(
    tx,
    `INSERT INTO usage_units (organisation_id, env, family, unit_key, on_date)
     VALUES (?, ?, ?, ?, (now() AT TIME ZONE 'UTC')::date) ON CONFLICT DO NOTHING`,
    [unit.organisationId, unit.env, unit.family, unit.unitKey],
  )
}

export interface UsageRow {
  family: string
  /** `YYYY-MM-DD`, UTC */
  date: string
  env: string
  units: number
}

export interface UsageQuery {
  organisationId: number
  env: string
  family: string | null
  /** days, both included; null is open */
  from: string | null
  to: string | null
  /** the last row of the page before */
  after: Pick<UsageRow, 'date' | 'family' | 'env'> | null
  limit: number
}

/** Units per day, family and environment, newest day first. */
export async function listUsage(db: Knex, asked: UsageQuery): Promise<UsageRow[]> {
  const { organisationId, env, family, from, to, after, limit } = asked
  return await query<UsageRow>(
    db,
    `SELECT family, to_char(on_date, 'YYYY-MM-DD') AS date, env, count(*) AS units FROM usage_units
     WHERE organisation_id = ? AND env = ?
       AND (?::text IS NULL OR family = ?)
       AND on_date >= coalesce(?::date, '-infinity') AND on_date <= coalesce(?::date, 'infinity')
       AND (?::date IS NULL OR on_date < ? OR (on_date = ? AND (family, env) > (?::text, ?::text)))
     GROUP BY on_date, family, env ORDER BY on_date DESC, family, env LIMIT ?`,
    [
      organisationId,
      env,
      ...[family, family],
      ...[from, to],
      ...[after?.date ?? null, after?.date ?? null, after?.date ?? null, after?.family ?? null, after?.env ?? null],
      limit,
    ],
  )
}
