import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import { lockLog } from '../anchoring/store.ts'

/** State of a log beside its entries (docs/spec/transparency.md#sequencer). */
export interface LogState {
  /** origin, as in its checkpoints */
  name: string
  publicKey: Buffer
  /** last time at which a sequencer compared the log with its copy of the signed checkpoint */
  steppedAt: Micros | null
  /** why nothing is signed */
  refusedReason: string | null
  /** The operator confirmed that no larger checkpoint was published. */
  confirmedSize: number | null
}

const LOG_STATE_COLUMNS = columns<LogState>({
  name: 'name',
  publicKey: 'public_key',
  steppedAt: microsOf('stepped_at'),
  refusedReason: 'refused_reason',
  confirmedSize: 'confirmed_size',
})

/** Returns undefined before the first use of the log. */
export async function readLogState(db: Knex, env: ApiEnv): Promise<LogState | undefined> {
  const rows = await query(db, typed`SELECT ${LOG_STATE_COLUMNS} FROM log_keys WHERE env = ?`, [env])
  return rows[0]
}

/** Records that a sequencer found the log to continue its copy of the signed checkpoint. */
export async function recordLogStep(db: Knex, env: ApiEnv): Promise<void> {
  await execute(
    db,
    `UPDATE log_keys SET stepped_at = now(), refused_reason = NULL, confirmed_size = NULL
     WHERE env = ? AND (stepped_at IS NULL OR stepped_at < now() - interval '5 seconds' OR refused_reason IS NOT NULL
         OR confirmed_size IS NOT NULL)`,
    [env],
  )
}

export async function recordLogRefusal(db: Knex, env: ApiEnv, reason: string): Promise<void> {
  await execute(db, 'UPDATE log_keys SET refused_reason = ? WHERE env = ? AND refused_reason IS DISTINCT FROM ?', [
    reason,
    env,
    reason,
  ])
}

export async function confirmLogSize(db: Knex, env: ApiEnv, size: number): Promise<void> {
  await execute(db, 'UPDATE log_keys SET confirmed_size = ? WHERE env = ?', [size, env])
}

/**
 * Ends the log. The next step creates a key, and gives each entry a position in the new log. Waits until no sequencer
 * is in a step.
 */
export async function endLog(db: Knex, env: ApiEnv): Promise<void> {
  await db.transaction(async (tx) => {
    // A log of millions of entries takes longer than a query may.
    await execute(tx, 'SET LOCAL statement_timeout = 0', [])
    await lockLog(tx, env)
    // Receipts are deleted with their checkpoints.
    for (const table of ['log_checkpoints', 'log_tiles', 'log_keys'])
      await execute(tx, `DELETE FROM ${table} WHERE env = ?`, [env])
    await execute(tx, 'UPDATE log_entries SET seq = NULL WHERE env = ? AND seq IS NOT NULL', [env])
  })
}
