import { AnchoringError } from './anchoring-error.ts'
import { type Checkpoint, signCheckpoint } from './checkpoint.ts'
import { encodeEntryBundle } from './entry-bundle.ts'
import { leafHash } from './merkle.ts'
import type { NoteSigner } from './note-key.ts'
import { equalBytes } from './text.ts'
import { type BundleId, TILE_WIDTH } from './tile-path.ts'
import { appendToTiles, type Frontier, frontierRoot, type Tile } from './tiles.ts'

/** Entries with their consecutive places in the log, all that is to be stored for them, and the promise to publish. */
export interface SequencedBatch {
  readonly frontier: Frontier
  readonly checkpoint: Checkpoint
  /** The checkpoint, signed. Publish it only when everything else is stored durably. */
  readonly note: string
  readonly tiles: readonly Tile[]
  readonly bundles: readonly (BundleId & { readonly data: Uint8Array })[]
}

/**
 * Appends a batch to a log. The same arguments give the same bytes (Ed25519 is deterministic), so a batch that a
 * crash interrupted is simply sequenced again.
 * @param before the stored tree
 * @param unfinished the entries of the last, incomplete bundle: `before.size` mod 256 of them
 * @param last the newest checkpoint ever signed, also as remembered outside the database; undefined for a new log
 * @throws AnchoringError LOG_ROLLED_BACK when the stored tree is not the one that was signed last (a restored
 *   back-up, a second sequencer): signing would fork the log
 */
export function sequenceBatch(
  before: Frontier,
  unfinished: readonly Uint8Array[],
  entries: readonly Uint8Array[],
  last: Checkpoint | undefined,
  signer: NoteSigner,
): SequencedBatch {
  assertNotRolledBack(before, last)
  if (unfinished.length !== before.size % TILE_WIDTH)
    throw new AnchoringError('TILE_MISSING', 'the entries of the unfinished bundle are not those of the tree')
  const { frontier, tiles } = appendToTiles(before, entries.map(leafHash))
  const checkpoint = { origin: signer.key.name, size: frontier.size, root: frontierRoot(frontier) }
  const bundles = bundle(before.size - unfinished.length, [...unfinished, ...entries], unfinished.length)
  return { frontier, checkpoint, note: signCheckpoint(checkpoint, signer), tiles, bundles }
}

/**
 * Refuses to go on from a stored tree that is not the one signed last. A checkpoint is signed only after its tiles
 * are stored, in one transaction, so the two never differ but after a roll-back or a fork.
 * @throws AnchoringError LOG_ROLLED_BACK
 */
export function assertNotRolledBack(stored: Frontier, last: Checkpoint | undefined): void {
  const size = last?.size ?? 0
  if (stored.size === size && (last === undefined || equalBytes(frontierRoot(stored), last.root))) return
  throw new AnchoringError(
    'LOG_ROLLED_BACK',
    `the stored tree of ${stored.size} entries is not the one signed last, of ${size}: restore the newest back-up, or start a new log under another origin`,
  )
}

/** Bundles of `entries`, the first of which is at `from` (a bundle border); one that only repeats old entries is left out. */
function bundle(from: number, entries: readonly Uint8Array[], old: number): SequencedBatch['bundles'] {
  const bundles: (BundleId & { data: Uint8Array })[] = []
  for (let at = 0; at < entries.length && entries.length > old; at += TILE_WIDTH) {
    const slice = entries.slice(at, at + TILE_WIDTH)
    const index = (from + at) / TILE_WIDTH
    bundles.push({ level: 'entries', index, width: slice.length, data: encodeEntryBundle(slice) })
  }
  return bundles
}
