import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Family } from '../../tenancy/oauth/families.ts'

/** Equal `unitKey`s count once. */
export interface UsageUnit {
  organisationId: number
  env: string
  family: Family
  unitKey: string
}

/** The transaction is that of the call's effect. */
export async function recordUsage(tx: Knex, unit: UsageUnit): Promise<void> {
  await recordUnits(tx, [unit])
}

export async function recordUnits(tx: Knex, units: readonly UsageUnit[]): Promise<void> {
  await execute(
    tx,
    `INSERT INTO usage_units (organisation_id, env, family, unit_key, on_date)
     SELECT organisation_id, env, family, unit_key, (now() AT TIME ZONE 'UTC')::date
     FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[]) AS t(organisation_id, env, family, unit_key)
     ON CONFLICT DO NOTHING`,
    [
      units.map(({ organisationId }) => organisationId),
      units.map(({ env }) => env),
      units.map(({ family }) => family),
      units.map(({ unitKey }) => unitKey),
    ],
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
  from: string | null
  to: string | null
  after: Pick<UsageRow, 'date' | 'family' | 'env'> | null
  limit: number
}

const USAGE_ROW_COLUMNS = columns<UsageRow>()(`family, to_char(on_date, 'YYYY-MM-DD') AS date, env, count(*) AS units`)

/** Newest day first. */
export async function listUsage(db: Knex, requested: UsageQuery): Promise<UsageRow[]> {
  const { organisationId, env, family, from, to, after, limit } = requested
  return await query(
    db,
    typed`SELECT ${USAGE_ROW_COLUMNS} FROM usage_units
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
