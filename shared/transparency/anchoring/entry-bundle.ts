import { AnchoringError } from './anchoring-error.ts'
import { TILE_WIDTH } from './tile-path.ts'

/** The length prefix of an entry is a uint16. */
export const MAX_ENTRY_BYTES = 65_535

/** C2SP tlog-tiles. @throws AnchoringError ENTRY_MALFORMED, TILE_MALFORMED */
export function encodeEntryBundle(entries: readonly Uint8Array[]): Uint8Array {
  if (entries.length > TILE_WIDTH) throw new AnchoringError('TILE_MALFORMED', 'a bundle contains at most 256 entries')
  const parts: Uint8Array[] = []
  for (const entry of entries) {
    if (entry.length > MAX_ENTRY_BYTES) throw new AnchoringError('ENTRY_MALFORMED', 'an entry has at most 65535 bytes')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(entry.length)
    parts.push(length, entry)
  }
  return Buffer.concat(parts)
}

/** The bundle has exactly `count` entries. @throws AnchoringError TILE_MALFORMED */
export function decodeEntryBundle(bundle: Uint8Array, count: number): Uint8Array[] {
  const view = new DataView(bundle.buffer, bundle.byteOffset, bundle.byteLength)
  const entries: Uint8Array[] = []
  let at = 0
  while (at < bundle.length) {
    const from = at + 2
    const to = from <= bundle.length ? from + view.getUint16(at) : Number.POSITIVE_INFINITY
    if (to > bundle.length || entries.length === count)
      throw new AnchoringError('TILE_MALFORMED', `the bundle does not contain exactly ${count} entries`)
    entries.push(bundle.subarray(from, to))
    at = to
  }
  if (entries.length !== count)
    throw new AnchoringError('TILE_MALFORMED', `the bundle does not contain exactly ${count} entries`)
  return entries
}
