import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { Import } from '#shared/risk/colending/imports/import.ts'
import { readChunks } from '#shared/risk/colending/imports/upload-store.ts'
import { Utf8Check } from '#shared/risk/colending/imports/utf8-check.ts'

/** Bounds the memory per file. */
const CHUNKS_AT_ONCE = 4

/** @throws NotTextError; Error when the hash differs from the upload's */
export async function* readFile(
  { db, secrets }: { db: Knex; secrets: Secrets },
  { id, sha256 }: Pick<Import, 'id' | 'sha256'>,
): AsyncGenerator<Buffer> {
  const digest = createHash('sha256')
  const check = new Utf8Check()
  for (let from = 0; ; from += CHUNKS_AT_ONCE) {
    const chunks = await readChunks(db, id, from, CHUNKS_AT_ONCE)
    for (const sealed of chunks) {
      const piece = secrets.decryptBytes('import-chunk', sealed)
      digest.update(piece)
      check.push(piece)
      yield piece
    }
    if (chunks.length < CHUNKS_AT_ONCE) break
  }
  check.end()
  if (!digest.digest().equals(sha256)) throw new Error('the hash of the stored file differs from that of the upload')
}

const LF = 10
const CR = 13

/** Each line end counts once, also in quoted cells. */
export async function* withLineFeeds(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isAfterCr = false
  for await (const piece of bytes) {
    const [first] = piece
    if (first === undefined) continue
    const rest = isAfterCr && first === LF ? piece.subarray(1) : piece
    isAfterCr = piece.at(-1) === CR
    yield rest.includes(CR) ? converted(rest) : rest
  }
}

function converted(piece: Buffer): Buffer {
  const out = Buffer.allocUnsafe(piece.length)
  let length = 0
  for (const [at, byte] of piece.entries()) {
    if (byte === LF && piece[at - 1] === CR) continue
    out[length++] = byte === CR ? LF : byte
  }
  return out.subarray(0, length)
}
