import { signCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { encodeEntryBundle } from '#shared/transparency/anchoring/entry-bundle.ts'
import { anchorObject, eventOf } from '#shared/transparency/anchoring/leaf.ts'
import { leafHash } from '#shared/transparency/anchoring/merkle.ts'
import { proveConsistency, proveInclusion } from '#shared/transparency/anchoring/merkle-proof.ts'
import { signatureLine } from '#shared/transparency/anchoring/note.ts'
import type { NoteSigner } from '#shared/transparency/anchoring/note-key.ts'
import { tilePath } from '#shared/transparency/anchoring/tile-path.ts'
import { appendToTiles, EMPTY_FRONTIER, frontierRoot, tileHashReader } from '#shared/transparency/anchoring/tiles.ts'
import { formatTlogProof } from '#shared/transparency/anchoring/tlog-proof.ts'

/** A log in memory, built with the functions of the real one. */
export class SmallLog {
  readonly #signer: NoteSigner
  readonly entries: Uint8Array[] = []
  readonly files = new Map<string, Uint8Array>()
  #frontier = EMPTY_FRONTIER

  constructor(signer: NoteSigner) {
    this.#signer = signer
  }

  /** Appends entries; keeps the partial tiles of every size. */
  append(entries: readonly Uint8Array[]): void {
    this.entries.push(...entries)
    const { frontier, tiles } = appendToTiles(this.#frontier, entries.map(leafHash))
    this.#frontier = frontier
    for (const tile of tiles) {
      this.files.set(tilePath(tile), tile.data)
      if (tile.level > 0) continue
      const bundle = encodeEntryBundle(this.entries.slice(tile.index * 256, tile.index * 256 + tile.width))
      this.files.set(tilePath({ ...tile, level: 'entries' }), bundle)
    }
  }

  /** Appends `count` plausible entries. */
  fill(count: number): void {
    this.append(
      Array.from({ length: count }, (_, at) => {
        const object = { eventType: 'test.filled', timestamp: '2026-11-21T10:00:00.000Z', id: this.entries.length + at }
        return anchorObject(object, eventOf(object) ?? object).entry
      }),
    )
  }

  get size(): number {
    return this.#frontier.size
  }

  get root(): Uint8Array {
    return frontierRoot(this.#frontier)
  }

  checkpoint(witnesses: readonly NoteSigner[] = [], time = 1_795_000_000): string {
    const note = signCheckpoint({ origin: this.#signer.key.name, size: this.size, root: this.root }, this.#signer)
    const text = note.slice(0, note.indexOf('\n\n') + 1)
    return note + witnesses.map((witness) => signatureLine(text, witness, time)).join('')
  }

  inclusion(index: number): Uint8Array[] {
    return proveInclusion(index, this.size, this.#reader())
  }

  consistency(from: number): Uint8Array[] {
    return proveConsistency(from, this.size, this.#reader())
  }

  tlogProof(index: number, witnesses: readonly NoteSigner[] = []): string {
    return formatTlogProof({ index, hashes: this.inclusion(index), checkpoint: this.checkpoint(witnesses) })
  }

  #reader(): ReturnType<typeof tileHashReader> {
    return tileHashReader(this.size, (tile) => this.files.get(tilePath(tile)))
  }
}
