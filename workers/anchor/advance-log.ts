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
import { readLogState, recordLogStep } from '#shared/transparency/log-keys/log-state-store.ts'
import type { CheckpointFile } from '#shared/transparency/providers/checkpoint-file.ts'
import { LogRefusedError, LogReplacedError } from './log-refused-error.ts'
import type { OtherSequencers } from './other-sequencers.ts'

export interface LogDeps {
  db: Knex
  env: ApiEnv
  signer: NoteSigner
  file: CheckpointFile
  others: OtherSequencers
  crashPoint(point: string): void
}

const BATCH = 20_000

export interface Advance {
  added: number
  size: number
  isFull: boolean
}

/**
 * One step: sequences entries, stores tiles, signs, saves the checkpoint outside the database, publishes
 * (docs/spec/transparency.md#sequencer, fault F24). Each part is durable before the next begins, and deterministic:
 * after a crash the next step finishes the batch. The advisory lock only prevents duplicate work. Returns null if
 * another process advances the log, or while this one has no copy of the signed checkpoint and another may have one.
 * @throws LogRefusedError if the database is older than the last signed checkpoint, or contradicts it, or if no copy of
 *   that checkpoint exists
 * @throws LogReplacedError if the log has another key now
 */
export async function advanceLog(log: LogDeps): Promise<Advance | null> {
  return await log.db.transaction(async (lock) => ((await tryLockLog(lock, log.env)) ? await advance(log) : null))
}

async function advance(log: LogDeps): Promise<Advance | null> {
  const { db, env, file } = log
  const state = await readLogState(db, env)
  if (!state || !equalBytes(state.publicKey, log.signer.key.publicKey))
    throw new LogReplacedError('the log has a new key')
  const published = await latestCheckpoint(db, env)
  const from = published?.size ?? 0
  let saved = await readSavedCheckpoint(log)
  if (!saved && published && state.confirmedSize !== from) {
    const others = log.others.observe(state.steppedAt)
    if (others === 'unknown') return null
    if (others === 'absent') throw refuseUnknown(log, from)
    // Another process compares the log with its own copy, so the published checkpoint is the newest signed one.
    await file.write(published.note)
    saved = published
  }
  let size = await sequencedSize(db, env)
  if (saved && saved.size > size) throw refuseOlder(log, saved.size, size)
  if (size < from) throw refuseOlder(log, from, size)

  let isFull = false
  if (size === from) {
    const added = await sequenceEntries(db, env, from, BATCH)
    size += added
    isFull = added === BATCH
    if (added > 0) log.crashPoint('log-sequenced')
  }
  const isSaved = saved && published && saved.size === from && equalBytes(saved.root, published.root)
  if (size === from && (isSaved || from === 0)) {
    await recordLogStep(db, env)
    return { added: 0, size, isFull: false }
  }

  const before = await readFrontier(log, from)
  if (published && !equalBytes(frontierRoot(before), published.root)) throw refuseForked(log, from)
  const { frontier, tiles } = appendToTiles(before, await leafHashes(db, env, from, size))
  await writeTiles(db, env, tiles)
  log.crashPoint('log-tiled')

  const root = frontierRoot(frontier)
  if (saved && !isSaved) await assertExtends(log, saved, frontier)
  const note = signCheckpoint({ origin: log.signer.key.name, size, root }, log.signer)
  await file.write(note)
  log.crashPoint('log-signed')

  await publishCheckpoint(db, env, { size, root, note })
  log.crashPoint('log-published')
  await recordLogStep(db, env)
  return { added: size - from, size, isFull }
}

interface SavedCheckpoint {
  size: number
  root: Uint8Array
}

/** @throws LogRefusedError if the file does not have our signature */
async function readSavedCheckpoint({ file, signer }: LogDeps): Promise<SavedCheckpoint | undefined> {
  const note = await file.read()
  if (note === undefined) return undefined
  try {
    return decodeCheckpoint(note, [signer.key]).checkpoint
  } catch (error) {
    throw new LogRefusedError(
      `${file.path} is not a checkpoint signed by ${signer.key.name}: it was changed. Restore the newest published one, ` +
        'if necessary from a verifier or a witness; without it a restored backup would not be detected.',
      { cause: error },
    )
  }
}

async function readFrontier({ db, env }: LogDeps, size: number): Promise<Frontier> {
  return loadFrontier(size, await readTiles(db, env, edgeTiles(size)))
}

/** The tree that was signed last must be a prefix of ours. */
async function assertExtends(log: LogDeps, saved: SavedCheckpoint, frontier: Frontier): Promise<void> {
  if (saved.size === 0) return
  const { size } = frontier
  const needed = tilesNeeded(size, (read) => rootAt(saved.size, read))
  const root = rootAt(saved.size, tileHashReader(size, await readTiles(log.db, log.env, needed)))
  if (!equalBytes(root, saved.root)) throw refuseForked(log, saved.size)
}

function refuseOlder(log: LogDeps, signed: number, stored: number): LogRefusedError {
  return new LogRefusedError(
    `a checkpoint of ${signed} entries was signed, but the database has only ${stored}: it was restored from an older ` +
      `backup. ${nextAction(log)}`,
  )
}

function refuseForked(log: LogDeps, signed: number): LogRefusedError {
  return new LogRefusedError(
    `the first ${signed} entries in the database differ from those of the signed checkpoint: signing would fork ` +
      `the log. ${nextAction(log)}`,
  )
}

function refuseUnknown({ env, file, signer }: LogDeps, stored: number): LogRefusedError {
  return new LogRefusedError(
    `no copy of the last signed checkpoint exists (${file.path}), so this may be a database that was restored on a new ` +
      `server. Nothing is signed and anchors stay PENDING. Copy CHECKPOINT_DIR of the former server here if you have it. ` +
      `Otherwise compare with the newest checkpoint that users of ${signer.key.name} have: if none has more than ` +
      `${stored} entries, run admin log confirm --env ${env} --size ${stored}; else the log must end: ` +
      `admin log restart --env ${env}`,
  )
}

function nextAction({ env, signer }: LogDeps): string {
  return (
    'Until you repair this, nothing is signed and anchors stay PENDING. Restore the newest backup, or replay the ' +
    `write-ahead log up to the signed size. Only if those entries are lost permanently: inform the users of ` +
    `${signer.key.name} that this log ended, and begin one under a new key: admin log restart --env ${env}`
  )
}
