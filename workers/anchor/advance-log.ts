import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import { decodeCheckpoint, signCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { rootAt } from '#shared/transparency/anchoring/merkle-proof.ts'
import type { NoteSigner } from '#shared/transparency/anchoring/note-key.ts'
import {
  latestCheckpoint,
  leafHashes,
  publishCheckpoint,
  readTiles,
  sequencedSize,
  sequenceEntries,
  tryLockLog,
  writeTiles,
} from '#shared/transparency/anchoring/store.ts'
import { equalBytes } from '#shared/transparency/anchoring/text.ts'
import { edgeTiles } from '#shared/transparency/anchoring/tile-path.ts'
import {
  appendToTiles,
  type Frontier,
  frontierRoot,
  loadFrontier,
  tileHashReader,
  tilesNeeded,
} from '#shared/transparency/anchoring/tiles.ts'
import type { CheckpointFile } from './checkpoint-file.ts'
import { LogRefusedError } from './log-refused-error.ts'

export interface LogDeps {
  db: Knex
  env: ApiEnv
  signer: NoteSigner
  file: CheckpointFile
  crashPoint(point: string): void
}

/** Entries that get their places in one step; bounds the memory of a step and the age of a checkpoint. */
const BATCH = 20_000

/** What one step did. */
export interface Advance {
  /** entries that the new checkpoint covers and the last one did not; 0 when there was nothing to do */
  added: number
  size: number
  /** whether more entries may be waiting */
  isFull: boolean
}

/**
 * One step of a log: give waiting entries their places, store the tiles, sign, keep the checkpoint outside the database,
 * publish. Each is durable before the next begins, and each gives the same bytes when it is done again: after a crash
 * between any two, the next step first finishes the half-made batch (docs/spec/transparency.md#sequencer, fault F24).
 *
 * The advisory lock spares double work only. Were two sequencers at work, places are unique rows, so both would sign
 * the same tree.
 * @returns null when another process advances the log
 * @throws LogRefusedError when the database is not the one that was signed last
 */
export async function advanceLog(log: LogDeps): Promise<Advance | null> {
  return await log.db.transaction(async (lock) => ((await tryLockLog(lock, log.env)) ? await advance(log) : null))
}

async function advance(log: LogDeps): Promise<Advance> {
  const { db, env, file } = log
  const published = await latestCheckpoint(db, env)
  const from = published?.size ?? 0
  const kept = await readSavedCheckpoint(log)
  let size = await sequencedSize(db, env)
  if (kept && kept.size > size) throw refuseOlder(log, kept.size, size)
  if (size < from) throw refuseOlder(log, from, size)

  let isFull = false
  if (size === from) {
    const places = await sequenceEntries(db, env, from, BATCH)
    size += places
    isFull = places === BATCH
    if (places > 0) log.crashPoint('log-sequenced')
  }
  const isKept = kept && published && kept.size === from && equalBytes(kept.root, published.root)
  if (size === from && (isKept || from === 0)) return { added: 0, size, isFull: false }

  const before = await readFrontier(log, from)
  if (published && !equalBytes(frontierRoot(before), published.root)) throw refuseForked(log, from)
  const { frontier, tiles } = appendToTiles(before, await leafHashes(db, env, from, size))
  await writeTiles(db, env, tiles)
  log.crashPoint('log-tiled')

  const root = frontierRoot(frontier)
  if (kept && !isKept) await assertExtends(log, kept, frontier)
  const note = signCheckpoint({ origin: log.signer.key.name, size, root }, log.signer)
  await file.write(note)
  log.crashPoint('log-signed')

  await publishCheckpoint(db, env, { size, root, note })
  log.crashPoint('log-published')
  return { added: size - from, size, isFull }
}

interface SavedCheckpoint {
  size: number
  root: Uint8Array
}

/** The checkpoint kept outside; believed only with our own signature. */
async function readSavedCheckpoint({ file, signer }: LogDeps): Promise<SavedCheckpoint | undefined> {
  const note = await file.read()
  if (note === undefined) return undefined
  try {
    return decodeCheckpoint(note, [signer.key]).checkpoint
  } catch (error) {
    throw new LogRefusedError(
      `${file.path} is not a checkpoint that ${signer.key.name} signed: it was changed. Put back the newest one that ` +
        'was published, from a verifier or a witness if need be; without it a restored backup would go unnoticed.',
      { cause: error },
    )
  }
}

async function readFrontier({ db, env }: LogDeps, size: number): Promise<Frontier> {
  return loadFrontier(size, await readTiles(db, env, edgeTiles(size)))
}

/** The tree that was signed last must be a beginning of ours. */
async function assertExtends(log: LogDeps, kept: SavedCheckpoint, frontier: Frontier): Promise<void> {
  if (kept.size === 0) return
  const { size } = frontier
  const needed = tilesNeeded(size, (read) => rootAt(kept.size, read))
  const root = rootAt(kept.size, tileHashReader(size, await readTiles(log.db, log.env, needed)))
  if (!equalBytes(root, kept.root)) throw refuseForked(log, kept.size)
}

function refuseOlder(log: LogDeps, signed: number, stored: number): LogRefusedError {
  return new LogRefusedError(
    `a checkpoint of ${signed} entries was signed, and the database holds ${stored}: it was restored from an older ` +
      `backup. ${nextAction(log)}`,
  )
}

function refuseForked(log: LogDeps, signed: number): LogRefusedError {
  return new LogRefusedError(
    `the first ${signed} entries in the database are not those of the checkpoint that was signed: signing would fork ` +
      `the log. ${nextAction(log)}`,
  )
}

function nextAction({ file, signer }: LogDeps): string {
  return (
    'Nothing is signed until this is settled, and anchors stay PENDING. Restore the newest backup, or replay the ' +
    `write-ahead log up to the signed size. Only if those entries are lost for good: tell those who rely on ` +
    `${signer.key.name} that it ended, delete its row in log_keys and its rows in log_tiles and log_checkpoints, set ` +
    `seq to NULL in log_entries, and move ${file.path} away; a log under a new key begins.`
  )
}
