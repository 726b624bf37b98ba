import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

/** The check that a push token of Uptime Kuma pings. */
export interface PushTarget {
  uuid: string
  isPaused: boolean
}

const TARGET_COLUMNS = columns<PushTarget>({ uuid: 'checks.uuid', isPaused: "checks.status = 'paused'" })

export async function findPushTarget(db: Knex, token: string): Promise<PushTarget | null> {
  const rows = await query(
    db,
    typed`SELECT ${TARGET_COLUMNS} FROM push_tokens JOIN checks ON checks.id = push_tokens.check_id
     WHERE push_tokens.token = ?`,
    [token],
  )
  return rows[0] ?? null
}

/** Returns those tokens that a check of any project has. */
export async function findTakenTokens(db: Knex, tokens: readonly string[]): Promise<string[]> {
  const rows = await query<{ token: string }>(db, 'SELECT token FROM push_tokens WHERE token = ANY(?::text[])', [
    tokens,
  ])
  return rows.map(({ token }) => token)
}

/** Gives checks the push tokens of their source, except tokens that another check has. */
export async function takePushTokens(
  tx: Knex,
  projectId: number,
  tokens: readonly { uuid: string; token: string }[],
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO push_tokens (token, check_id)
     SELECT t.token, checks.id FROM unnest(?::text[], ?::uuid[]) AS t(token, uuid)
     JOIN checks ON checks.uuid = t.uuid AND checks.project_id = ? ON CONFLICT DO NOTHING`,
    [tokens.map(({ token }) => token), tokens.map(({ uuid }) => uuid), projectId],
  )
}
