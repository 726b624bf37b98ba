import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { AgentCall } from './call-store.ts'

export interface OpenDay {
  organisationId: number
  organisationUuid: string
  env: ApiEnv
  /** `YYYY-MM-DD`, UTC */
  date: string
}

/** After midnight calls of the previous day may still be stored. */
const SETTLED = '5 minutes'
/** Days back that are searched. After a longer outage older days stay without a digest. */
const DAYS = 8

const OPEN_DAY_COLUMNS = columns<OpenDay>()(`
  o.id AS organisationId, o.uuid AS organisationUuid, e.env, to_char(d.day, 'YYYY-MM-DD') AS date`)

export async function findOpenDays(db: Knex, limit: number): Promise<OpenDay[]> {
  return await query(
    db,
    typed`SELECT ${OPEN_DAY_COLUMNS} FROM organisation_families f JOIN organisations o ON o.id = f.organisation_id
     CROSS JOIN (VALUES ('SANDBOX'), ('PRODUCTION')) AS e(env)
     CROSS JOIN generate_series(1, ?::int) AS n
     CROSS JOIN LATERAL (SELECT ((now() - interval '${SETTLED}') AT TIME ZONE 'UTC')::date - n AS day) AS d
     WHERE f.family = 'agents'
       AND EXISTS (SELECT FROM agent_calls c WHERE c.organisation_id = o.id AND c.env = e.env
                   AND c.called_at >= d.day::timestamp AT TIME ZONE 'UTC'
                   AND c.called_at < (d.day + 1)::timestamp AT TIME ZONE 'UTC')
       AND NOT EXISTS (SELECT FROM agent_digests g
                       WHERE g.organisation_id = o.id AND g.env = e.env AND g.on_date = d.day)
     ORDER BY d.day, o.id LIMIT ?`,
    [DAYS, limit],
  )
}

/** Returns false if another process has claimed the day. */
export async function claimDay(tx: Knex, { organisationId, env, date }: OpenDay): Promise<boolean> {
  const taken = await execute(
    tx,
    `INSERT INTO agent_digests (organisation_id, env, on_date, record) VALUES (?, ?, ?::date, '{}')
     ON CONFLICT DO NOTHING`,
    [organisationId, env, date],
  )
  return taken > 0
}

export async function storeDigest(tx: Knex, { organisationId, env, date }: OpenDay, record: object): Promise<void> {
  await execute(
    tx,
    'UPDATE agent_digests SET record = ?::jsonb WHERE organisation_id = ? AND env = ? AND on_date = ?::date',
    [JSON.stringify(record), organisationId, env, date],
  )
}

const CALLS_COLUMNS = columns<AgentCall & { keyId: string }>()(`
  call_id, key_id, tool, arguments_digest, code, units, duration_ms, called_at`)

/** In the order of ids; `after` is the last id of the previous page. */
export async function callsOfDay(
  db: Knex,
  { organisationId, env, date }: OpenDay,
  page: { after: string | null; limit: number },
): Promise<(AgentCall & { keyId: string })[]> {
  return await query(
    db,
    typed`SELECT ${CALLS_COLUMNS} FROM agent_calls
     WHERE organisation_id = ? AND env = ? AND called_at >= ?::date::timestamp AT TIME ZONE 'UTC'
       AND called_at < (?::date + 1)::timestamp AT TIME ZONE 'UTC' AND (?::uuid IS NULL OR call_id > ?::uuid)
     ORDER BY call_id LIMIT ?`,
    [organisationId, env, date, date, page.after, page.after, page.limit],
  )
}

const DIGESTS_COLUMNS = columns<{ date: string; record: Record<string, unknown> }>()(`
  to_char(on_date, 'YYYY-MM-DD') AS date, record`)

/** Newest day first; `before` is `YYYY-MM-DD`. */
export async function listDigests(
  db: Knex,
  owner: { organisationId: number; env: ApiEnv },
  page: { before: string | null; limit: number },
): Promise<{ date: string; record: Record<string, unknown> }[]> {
  return await query(
    db,
    typed`SELECT ${DIGESTS_COLUMNS} FROM agent_digests
     WHERE organisation_id = ? AND env = ? AND (?::date IS NULL OR on_date < ?::date)
     ORDER BY on_date DESC LIMIT ?`,
    [owner.organisationId, owner.env, page.before, page.before, page.limit],
  )
}

/** Oldest first. Returns the number of calls. */
export async function pruneAgentCalls(db: Knex, days: number, limit: number): Promise<number> {
  await execute(db, 'DELETE FROM agent_digests WHERE on_date < (now() - make_interval(days => ?::int))::date', [days])
  return await execute(
    db,
    `DELETE FROM agent_calls WHERE call_id IN (
       SELECT call_id FROM agent_calls WHERE called_at < now() - make_interval(days => ?::int)
       ORDER BY called_at LIMIT ?)`,
    [days, limit],
  )
}
