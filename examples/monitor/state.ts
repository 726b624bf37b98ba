import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { equalBytes, HASH_BYTES, parseBase64, toBase64 } from '#shared/transparency/anchoring/text.ts'
import { EMPTY_FRONTIER, type Frontier, frontierRoot } from '#shared/transparency/anchoring/tiles.ts'
import { parseJsonBytes } from '../../shared/canonical/parse-json.ts'

/** Progress in the log: the computed edge of the tree, and the note that matched it. */
export interface MonitorState {
  readonly frontier: Frontier
  readonly note: string
}

/** Starts at the first entry if the file is missing. @throws Error for a damaged file */
export function loadState(path: string): MonitorState {
  if (!existsSync(path)) return { frontier: EMPTY_FRONTIER, note: '' }
  const { size, levels, note }: { size?: unknown; levels?: unknown; note?: unknown } = Object(
    parseJsonBytes(readFileSync(path)),
  )
  if (typeof size !== 'number' || !Array.isArray(levels) || typeof note !== 'string')
    throw new Error(`${path} is damaged; remove it to follow the log from its first entry`)
  const frontier = { size, levels: levels.map((level) => split(level, path)) }
  const agreed = readCheckpoint(note)
  if (agreed.size !== size || !equalBytes(agreed.root, frontierRoot(frontier))) throw new Error(`${path} is damaged`)
  return { frontier, note }
}

/** The state is durable when this returns. */
export function saveState(path: string, { frontier, note }: MonitorState): void {
  const levels = frontier.levels.map((hashes) => toBase64(Buffer.concat(hashes)))
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    writeFileSync(file, `${JSON.stringify({ size: frontier.size, levels, note })}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
}

function split(level: unknown, path: string): Uint8Array[] {
  const bytes = typeof level === 'string' ? parseBase64(level) : undefined
  if (bytes === undefined || bytes.length % HASH_BYTES !== 0) throw new Error(`${path} is damaged`)
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, at) =>
    bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  )
}
