import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

/** Called before the answer. `limit` is per UTC day. At the limit returns false, without counting. */
export async function countAgentCall(db: Knex, agentKeyId: number, limit: number | null): Promise<boolean> {
  const changed = await execute(
    db,
    `INSERT INTO agent_key_days (agent_key_id, on_date, calls, last_at)
     SELECT ?, (now() AT TIME ZONE 'UTC')::date, 1, now() WHERE coalesce(?::int, 1) > 0
     ON CONFLICT (agent_key_id, on_date) DO UPDATE SET calls = agent_key_days.calls + 1, last_at = excluded.last_at
       WHERE ?::int IS NULL OR agent_key_days.calls < ?::int`,
    [agentKeyId, limit, limit, limit],
  )
  return changed > 0
}

export interface AgentCall {
  callId: string
  tool: string
  /** SHA-256 of the arguments in canonical JSON */
  argumentsDigest: Buffer
  /** `OK`, the code of the error, or `CANCELLED` if the caller disconnected */
  code: string
  units: number
  durationMs: number
  calledAt: Date
}

interface Scope {
  organisationId: number
  env: ApiEnv
}

export async function insertAgentCall(db: Knex, caller: Scope & { keyId: string }, call: AgentCall): Promise<void> {
  await execute(
    db,
    `INSERT INTO agent_calls (call_id, key_id, organisation_id, env, tool, arguments_digest, code, units, duration_ms, called_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      call.callId,
      caller.keyId,
      caller.organisationId,
      caller.env,
      call.tool,
      call.argumentsDigest,
      call.code,
      call.units,
      call.durationMs,
      call.calledAt,
    ],
  )
}

export interface ListedAgentCall extends AgentCall {
  /** or the client's id if the caller used an access token */
  keyId: string
}

export interface CallsQuery extends Scope {
  keyId: string | null
  before: { calledAt: Date; callId: string } | null
  limit: number
}

const LISTED_AGENT_CALL_COLUMNS = columns<ListedAgentCall>()(`
  c.call_id, c.key_id, c.tool, c.arguments_digest, c.code, c.units, c.duration_ms, c.called_at`)

export async function listAgentCalls(db: Knex, requested: CallsQuery): Promise<ListedAgentCall[]> {
  const { organisationId, env, keyId, before, limit } = requested
  return await query(
    db,
    typed`SELECT ${LISTED_AGENT_CALL_COLUMNS} FROM agent_calls c
     WHERE c.organisation_id = ? AND c.env = ? AND (?::text IS NULL OR c.key_id = ?)
       AND (?::timestamptz IS NULL OR (c.called_at, c.call_id) < (?::timestamptz, ?::uuid))
     ORDER BY c.called_at DESC, c.call_id DESC LIMIT ?`,
    [
      organisationId,
      env,
      keyId,
      keyId,
      before?.calledAt ?? null,
      before?.calledAt ?? null,
      before?.callId ?? null,
      limit,
    ],
  )
}
