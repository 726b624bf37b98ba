import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

/** Registered fingerprints at an hour. */
export interface Snapshot {
  id: string
  env: ApiEnv
  epoch: number
  size: number
  content: Buffer
  /** sorted, 32 bytes each; null after their retention */
  keys: Buffer | null
  /** the anchored object with its root, as JSON text */
  record: string
}

const REFRESH_EVERY = "interval '1 hour'"
/** Proofs from a snapshot are available for this time. */
const KEPT = "interval '7 days'"
/** Locks (this, hash of environment and epoch). */
const SNAPSHOT_LOCK = 7_422

const COLUMNS = columns<Snapshot>()('id, env, epoch, size, content, keys, record')

const DUE_SNAPSHOTS_COLUMNS = columns<{ env: ApiEnv; epoch: number }>({ env: 'k.env', epoch: 'k.epoch' })

/** Returns epochs without a snapshot or an attempt in the last hour. */
export async function listDueSnapshots(db: Knex): Promise<{ env: ApiEnv; epoch: number }[]> {
  return await query(
    db,
    typed`SELECT ${DUE_SNAPSHOTS_COLUMNS} FROM domain_keys k
     WHERE k.purpose = 'financing-oprf' AND k.public_key IS NOT NULL AND k.state <> 'RETIRED'
       AND NOT EXISTS (SELECT 1 FROM financing_snapshots s
         WHERE s.env = k.env AND s.epoch = k.epoch AND s.evaluated_at > now() - ${REFRESH_EVERY})`,
  )
}

/** Returns true if a snapshot is still due. */
export async function takeSnapshot(tx: Knex.Transaction, env: ApiEnv, epoch: number): Promise<boolean> {
  await execute(tx, 'SELECT pg_advisory_xact_lock(?, hashtext(?))', [SNAPSHOT_LOCK, `${env}/${epoch}`])
  const recent = await query(
    tx,
    `SELECT 1 FROM financing_snapshots WHERE env = ? AND epoch = ? AND evaluated_at > now() - ${REFRESH_EVERY} LIMIT 1`,
    [env, epoch],
  )
  return recent.length === 0
}

/** In hex, sorted. */
export async function liveFingerprints(tx: Knex, env: ApiEnv, epoch: number): Promise<string[]> {
  const rows = await query<{ fingerprint: string }>(
    tx,
    `SELECT encode(f.fingerprint, 'hex') AS fingerprint FROM financing_fingerprints f
     LEFT JOIN financing_registrations r ON r.id = f.record_id
     WHERE f.env = ? AND f.epoch = ? AND f.kind = 'RF1' AND f.state IN ('REGISTERED', 'FINANCED')
       AND coalesce(r.expires_at, f.expires_at, 'infinity') > now()
     ORDER BY f.fingerprint`,
    [env, epoch],
  )
  return rows.map(({ fingerprint }) => fingerprint)
}

export async function insertSnapshot(tx: Knex, snapshot: Snapshot): Promise<void> {
  await execute(
    tx,
    `INSERT INTO financing_snapshots (id, env, epoch, size, content, keys, record) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [snapshot.id, snapshot.env, snapshot.epoch, snapshot.size, snapshot.content, snapshot.keys, snapshot.record],
  )
}

export async function touchSnapshot(tx: Knex, id: string): Promise<void> {
  await execute(tx, 'UPDATE financing_snapshots SET evaluated_at = now() WHERE id = ?', [id])
}

export async function findLatestSnapshot(db: Knex, env: ApiEnv, epoch?: number): Promise<Snapshot | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM financing_snapshots WHERE env = ? AND epoch = coalesce(?, epoch)
     ORDER BY epoch DESC, created_at DESC LIMIT 1`,
    [env, epoch ?? null],
  )
  return row
}

export async function findSnapshot(db: Knex, env: ApiEnv, id: string): Promise<Snapshot | undefined> {
  const [row] = await query(db, typed`SELECT ${COLUMNS} FROM financing_snapshots WHERE id = ? AND env = ?`, [id, env])
  return row
}

/** Without available proofs, except the newest of each epoch. */
export async function forgetOldKeys(tx: Knex): Promise<void> {
  await execute(
    tx,
    `UPDATE financing_snapshots s SET keys = NULL WHERE s.keys IS NOT NULL AND s.created_at < now() - ${KEPT}
       AND EXISTS (SELECT 1 FROM financing_snapshots n
         WHERE n.env = s.env AND n.epoch = s.epoch AND n.created_at > s.created_at)`,
  )
}
