import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { CheckpointReceipt } from '../anchoring/checkpoint-adapter.ts'

/** Requests to external networks for a log lock (this, hash of the environment). */
const RECEIPT_LOCK = 7_420

export async function tryLockReceipts(tx: Knex.Transaction, env: ApiEnv): Promise<boolean> {
  const rows = await query<{ locked: boolean }>(tx, 'SELECT pg_try_advisory_xact_lock(?, hashtext(?)) AS locked', [
    RECEIPT_LOCK,
    env,
  ])
  return rows[0]?.locked === true
}

export async function wasSubmittedWithin(db: Knex, env: ApiEnv, network: string, seconds: number): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT 1 FROM log_receipts WHERE env = ? AND network = ? AND created_at > now() - make_interval(secs => ?) LIMIT 1`,
    [env, network, seconds],
  )
  return rows.length > 0
}

export async function hasReceipt(db: Knex, env: ApiEnv, size: number, network: string): Promise<boolean> {
  const rows = await query(db, 'SELECT 1 FROM log_receipts WHERE env = ? AND size = ? AND network = ?', [
    env,
    size,
    network,
  ])
  return rows.length > 0
}

export async function insertReceipt(db: Knex, env: ApiEnv, size: number, receipt: CheckpointReceipt): Promise<void> {
  await execute(
    db,
    `INSERT INTO log_receipts (env, size, network, source, state, receipt, poll_after)
     VALUES (?, ?, ?, ?, 'SUBMITTED', ?, now() + interval '10 minutes') ON CONFLICT DO NOTHING`,
    [env, size, receipt.network, receipt.network, Buffer.from(receipt.proof, 'base64')],
  )
  if (receipt.state === 'EXTERNAL') await confirmReceipt(db, env, size, receipt)
}

const DUE_RECEIPTS_COLUMNS = columns<{ size: number; network: string; proof: Buffer }>()(`
  size, network, receipt AS proof`)

/** May have become complete; the longest waiting first. */
export async function dueReceipts(
  db: Knex,
  env: ApiEnv,
  limit: number,
): Promise<{ size: number; receipt: CheckpointReceipt }[]> {
  const rows = await query(
    db,
    typed`SELECT ${DUE_RECEIPTS_COLUMNS} FROM log_receipts
     WHERE env = ? AND state = 'SUBMITTED' AND poll_after <= now() ORDER BY poll_after LIMIT ?`,
    [env, limit],
  )
  return rows.map(({ size, network, proof }) => ({
    size,
    receipt: { network, state: 'SUBMITTED', proof: proof.toString('base64') },
  }))
}

export async function postponeReceipt(db: Knex, env: ApiEnv, size: number, network: string): Promise<void> {
  await execute(
    db,
    `UPDATE log_receipts SET poll_after = now() + interval '10 minutes' WHERE env = ? AND size = ? AND network = ?`,
    [env, size, network],
  )
}

/** A receipt covers every entry below its size. */
export async function confirmReceipt(db: Knex, env: ApiEnv, size: number, receipt: CheckpointReceipt): Promise<void> {
  await execute(
    db,
    `WITH confirmed AS (
       UPDATE log_receipts SET state = 'CONFIRMED', receipt = ? WHERE env = ? AND size = ? AND network = ?
       RETURNING env, size)
     UPDATE log_checkpoints c SET external_at = coalesce(external_at, now())
     FROM confirmed WHERE c.env = confirmed.env AND c.size = confirmed.size`,
    [Buffer.from(receipt.proof, 'base64'), env, size, receipt.network],
  )
}
