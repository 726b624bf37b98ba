import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { type AnchorBlock, anchorObject as anchorBlockOf } from './leaf.ts'
import type { TileId } from './tile-path.ts'
import type { Tile } from './tiles.ts'

/**
 * The anchor may be shown after the commit; a signed checkpoint contains the entry about a second later. The object
 * has no anchor and must contain a random id; `timestamp` is ISO 8601 UTC with milliseconds; for `note` of webhook
 * payloads see ANCHOR_NOTE.
 */
export async function anchorObject(
  tx: Knex,
  env: ApiEnv,
  eventType: string,
  timestamp: string,
  object: object,
  note?: string,
): Promise<AnchorBlock> {
  const { entry, anchor } = anchorBlockOf(object, { eventType, timestamp }, note)
  await insertEntry(tx, env, anchor.txId, entry)
  return anchor
}

export async function anchorObjects(
  tx: Knex,
  env: ApiEnv,
  eventType: string,
  timestamp: string,
  objects: readonly object[],
): Promise<AnchorBlock[]> {
  const blocks = objects.map((object) => anchorBlockOf(object, { eventType, timestamp }))
  await execute(
    tx,
    `INSERT INTO log_entries (env, leaf_hash, entry) SELECT ?, decode(t.leaf, 'hex'), t.entry
     FROM unnest(?::text[], ?::bytea[]) AS t(leaf, entry) ON CONFLICT DO NOTHING`,
    [env, blocks.map(({ anchor }) => anchor.txId), blocks.map(({ entry }) => Buffer.from(entry))],
  )
  return blocks.map(({ anchor }) => anchor)
}

/** The caller has hashed the object; see `anchorObject`. */
export async function insertEntry(tx: Knex, env: ApiEnv, txId: string, entry: Uint8Array): Promise<void> {
  await execute(tx, 'INSERT INTO log_entries (env, leaf_hash, entry) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', [
    env,
    Buffer.from(txId, 'hex'),
    Buffer.from(entry),
  ])
}

/** `note` has the log's own signature; cosignature lines are stored separately. */
export interface PublishedCheckpoint {
  size: number
  root: Buffer
  note: string
  cosignatures: string[]
}

const CHECKPOINT = columns<PublishedCheckpoint>()('size, root, note, cosignatures')

export async function latestCheckpoint(
  db: Knex,
  env: ApiEnv,
  reached: 'published' | 'witnessed' | 'external' = 'published',
): Promise<PublishedCheckpoint | undefined> {
  const condition = {
    published: '',
    witnessed: 'AND witnessed_at IS NOT NULL',
    external: 'AND external_at IS NOT NULL',
  }
  const rows = await query(
    db,
    typed`SELECT ${CHECKPOINT} FROM log_checkpoints WHERE env = ? ${condition[reached]} ORDER BY size DESC LIMIT 1`,
    [env],
  )
  return rows[0]
}

export function fullNote({ note, cosignatures }: PublishedCheckpoint): string {
  return note + cosignatures.join('')
}

/** An arbitrary constant; sequencers of a log lock (this, hash of the env). */
const LOG_LOCK = 7_419

export async function tryLockLog(tx: Knex.Transaction, env: ApiEnv): Promise<boolean> {
  const rows = await query<{ locked: boolean }>(tx, 'SELECT pg_try_advisory_xact_lock(?, hashtext(?)) AS locked', [
    LOG_LOCK,
    env,
  ])
  return rows[0]?.locked === true
}

/** Waits until no sequencer is in a step; none begins before the transaction ends. */
export async function lockLog(tx: Knex.Transaction, env: ApiEnv): Promise<void> {
  await execute(tx, 'SELECT pg_advisory_xact_lock(?, hashtext(?))', [LOG_LOCK, env])
}

/** Counts entries with a position, published or not. */
export async function sequencedSize(db: Knex, env: ApiEnv): Promise<number> {
  const rows = await query<{ size: number }>(
    db,
    'SELECT coalesce((SELECT seq FROM log_entries WHERE env = ? AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1) + 1, 0) AS size',
    [env],
  )
  return rows[0]?.size ?? 0
}

/** Oldest first, starting at `from`. Returns their number. */
export async function sequenceEntries(db: Knex, env: ApiEnv, from: number, limit: number): Promise<number> {
  const rowCount = await execute(
    db,
    `UPDATE log_entries e SET seq = CAST(? AS bigint) + w.place
     FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place
           FROM (SELECT id FROM log_entries WHERE env = ? AND seq IS NULL ORDER BY id LIMIT ?) oldest) w
     WHERE e.id = w.id`,
    [from, env, limit],
  )
  return rowCount
}

/** Positions [from, to), in order. */
export async function leafHashes(db: Knex, env: ApiEnv, from: number, to: number): Promise<Buffer[]> {
  const rows = await query<{ leaf: Buffer }>(
    db,
    'SELECT leaf_hash AS leaf FROM log_entries WHERE env = ? AND seq >= ? AND seq < ? ORDER BY seq',
    [env, from, to],
  )
  return rows.map(({ leaf }) => leaf)
}

export async function readEntries(db: Knex, env: ApiEnv, from: number, to: number): Promise<Buffer[]> {
  const rows = await query<{ entry: Buffer }>(
    db,
    'SELECT entry FROM log_entries WHERE env = ? AND seq >= ? AND seq < ? ORDER BY seq',
    [env, from, to],
  )
  return rows.map(({ entry }) => entry)
}

const TILES_COLUMNS = columns<{ level: number; index: number; data: Buffer }>()('level, index, data')

/** A stored tile may be wider than requested. The reader has these tiles only. */
export async function readTiles(
  db: Knex,
  env: ApiEnv,
  ids: readonly Pick<TileId, 'level' | 'index'>[],
): Promise<(tile: Pick<TileId, 'level' | 'index'>) => Uint8Array | undefined> {
  const tiles = new Map<string, Uint8Array>()
  if (ids.length > 0) {
    const rows = await query(
      db,
      typed`SELECT ${TILES_COLUMNS} FROM log_tiles
       WHERE env = ? AND (level, index) IN (SELECT l, i FROM unnest(?::int[], ?::bigint[]) AS t(l, i))`,
      [env, ids.map(({ level }) => level), ids.map(({ index }) => index)],
    )
    for (const { level, index, data } of rows) tiles.set(`${level}/${index}`, data)
  }
  return ({ level, index }) => tiles.get(`${level}/${index}`)
}

export async function writeTiles(db: Knex, env: ApiEnv, tiles: readonly Tile[]): Promise<void> {
  if (tiles.length === 0) return
  await execute(
    db,
    `INSERT INTO log_tiles (env, level, index, data)
     SELECT ?, level, index, data FROM unnest(?::int[], ?::bigint[], ?::bytea[]) AS t(level, index, data)
     ON CONFLICT (env, level, index) DO UPDATE SET data = excluded.data
     WHERE length(log_tiles.data) < length(excluded.data)`,
    [env, tiles.map(({ level }) => level), tiles.map(({ index }) => index), tiles.map(({ data }) => Buffer.from(data))],
  )
}

const CHECKPOINT_NOTES_COLUMNS = columns<{ size: number; note: string }>({ size: 'size', note: 'note' })

export async function checkpointNotes(db: Knex, env: ApiEnv): Promise<{ size: number; note: string }[]> {
  return await query(db, typed`SELECT ${CHECKPOINT_NOTES_COLUMNS} FROM log_checkpoints WHERE env = ? ORDER BY size`, [
    env,
  ])
}

/** Returns false when one of this size exists. */
export async function publishCheckpoint(
  db: Knex,
  env: ApiEnv,
  checkpoint: { size: number; root: Uint8Array; note: string },
): Promise<boolean> {
  const rowCount = await execute(
    db,
    'INSERT INTO log_checkpoints (env, size, root, note) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    [env, checkpoint.size, Buffer.from(checkpoint.root), checkpoint.note],
  )
  return rowCount === 1
}

/** `isQuorum` is true if they complete the quorum. */
export async function addCosignatures(
  db: Knex,
  env: ApiEnv,
  size: number,
  lines: readonly string[],
  isQuorum: boolean,
): Promise<void> {
  await execute(
    db,
    `UPDATE log_checkpoints SET
       cosignatures = (SELECT array_agg(DISTINCT line) FROM unnest(cosignatures || CAST(? AS text[])) AS t(line)),
       witnessed_at = CASE WHEN ? THEN coalesce(witnessed_at, now()) ELSE witnessed_at END
     WHERE env = ? AND size = ?`,
    [[...lines], isQuorum, env, size],
  )
}

export interface FoundEntry {
  seq: number | null
  entry: Buffer
  storedAt: Date
}

const FOUND_ENTRY_COLUMNS = columns<FoundEntry>({ seq: 'seq', entry: 'entry', storedAt: 'created_at' })

export async function findEntry(db: Knex, env: ApiEnv, leaf: Buffer): Promise<FoundEntry | undefined> {
  const rows = await query(db, typed`SELECT ${FOUND_ENTRY_COLUMNS} FROM log_entries WHERE env = ? AND leaf_hash = ?`, [
    env,
    leaf,
  ])
  return rows[0]
}

const WAITING_ENTRIES_COLUMNS = columns<{ count: number; oldestSeconds: number }>()(`
  count(*) AS count, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldestSeconds`)

/** Returns the environments with entries that have no position in their log yet. */
export async function environmentsWaiting(db: Knex): Promise<ApiEnv[]> {
  const rows = await query<{ env: ApiEnv }>(
    db,
    `SELECT env FROM unnest(ARRAY['SANDBOX', 'PRODUCTION']) AS t(env)
     WHERE EXISTS (SELECT FROM log_entries WHERE log_entries.env = t.env AND seq IS NULL)`,
  )
  return rows.map(({ env }) => env)
}

/** Entries that have no place yet, and the age of the oldest in seconds; for metrics. */
export async function waitingEntries(db: Knex, env: ApiEnv): Promise<{ count: number; oldestSeconds: number }> {
  const rows = await query(
    db,
    typed`SELECT ${WAITING_ENTRIES_COLUMNS} FROM log_entries WHERE env = ? AND seq IS NULL`,
    [env],
  )
  return rows[0] ?? { count: 0, oldestSeconds: 0 }
}
