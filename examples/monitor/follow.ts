import { AnchoringError } from '#shared/transparency/anchoring/anchoring-error.ts'
import { decodeCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { decodeEntryBundle } from '#shared/transparency/anchoring/entry-bundle.ts'
import { decodeLogEntry } from '#shared/transparency/anchoring/leaf.ts'
import { leafHash } from '#shared/transparency/anchoring/merkle.ts'
import { isQuorumReached, policyKeys, type TrustPolicy } from '#shared/transparency/anchoring/policy.ts'
import { equalBytes } from '#shared/transparency/anchoring/text.ts'
import { TILE_WIDTH, tilePath } from '#shared/transparency/anchoring/tile-path.ts'
import { appendToTiles, type Frontier, frontierRoot } from '#shared/transparency/anchoring/tiles.ts'
import { type LogSource, UnreachableError } from './source.ts'
import type { MonitorState } from './state.ts'

/** The log contradicts itself or contains an invalid entry. `evidence` are the notes that prove it. */
export class AlarmError extends Error {
  readonly evidence: readonly string[]
  constructor(message: string, evidence: readonly string[]) {
    super(message)
    this.evidence = evidence
  }
}

/**
 * Reads every new entry up to the newest checkpoint, recomputes the tree and compares root and tiles. Because it
 * continues the tree computed before, agreement proves consistency.
 * @returns the new state, not yet saved
 * @throws AlarmError; UnreachableError if the log could not be read, which proves nothing
 */
export async function followLog(source: LogSource, policy: TrustPolicy, state: MonitorState): Promise<MonitorState> {
  const note = await source.checkpoint()
  const { checkpoint, evidence } = openNewest(note, policy, state)
  let frontier = state.frontier
  if (checkpoint.size < frontier.size)
    throw new AlarmError(`the log went back from ${frontier.size} to ${checkpoint.size} entries`, evidence)
  while (frontier.size < checkpoint.size) frontier = await readBundle(source, frontier, checkpoint.size, evidence)
  if (!equalBytes(frontierRoot(frontier), checkpoint.root))
    throw new AlarmError(`the entries do not give the root that was signed for ${checkpoint.size}`, evidence)
  return { frontier, note }
}

function openNewest(
  note: string,
  policy: TrustPolicy,
  state: MonitorState,
): { checkpoint: ReturnType<typeof decodeCheckpoint>['checkpoint']; evidence: string[] } {
  const evidence = [state.note, note].filter((text) => text !== '')
  try {
    const { checkpoint, cosignatures } = decodeCheckpoint(note, policyKeys(policy))
    if (
      !isQuorumReached(
        policy,
        cosignatures.map(({ key }) => key),
      )
    )
      throw new AlarmError('the checkpoint lacks the quorum of witnesses', evidence)
    return { checkpoint, evidence }
  } catch (error) {
    if (error instanceof AnchoringError) throw new AlarmError(`the checkpoint is not valid: ${error.message}`, evidence)
    throw error
  }
}

async function readBundle(
  source: LogSource,
  before: Frontier,
  size: number,
  evidence: readonly string[],
): Promise<Frontier> {
  const index = Math.floor(before.size / TILE_WIDTH)
  const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH)
  const bundle = await source.tile({ level: 'entries', index, width })
  if (bundle === undefined) throw new UnreachableError(`entry bundle ${index} is not served`)
  try {
    const entries = decodeEntryBundle(bundle.data, bundle.width).slice(before.size % TILE_WIDTH, width)
    for (const entry of entries) decodeLogEntry(entry)
    const { frontier, tiles } = appendToTiles(before, entries.map(leafHash))
    for (const tile of tiles) {
      // Unfinished upper tiles exist only at published sizes; they are compared once they are full.
      if (tile.width < TILE_WIDTH && (tile.level > 0 || frontier.size < size)) continue
      const served = await source.tile(tile)
      if (served === undefined) throw new UnreachableError(`${tilePath(tile)} is not served`)
      if (!equalBytes(served.data.subarray(0, tile.data.length), tile.data))
        throw new AlarmError(`${tilePath(tile)} is not made of the entries`, evidence)
    }
    return frontier
  } catch (error) {
    if (error instanceof AnchoringError) throw new AlarmError(`entry bundle ${index}: ${error.message}`, evidence)
    throw error
  }
}
