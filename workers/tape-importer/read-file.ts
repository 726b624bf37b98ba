import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { Import } from '#shared/risk/colending/imports/import.ts'
import { readChunks } from '#shared/risk/colending/imports/upload-store.ts'
import { Utf8Check } from '#shared/risk/colending/imports/utf8-check.ts'

/** Chunks that are read at once: what a file takes of memory. */
const CHUNKS_AT_ONCE = 4

/**
 * The bytes of a file, piece by piece, each checked to be text.
 * @throws NotTextError; Error when they are not what was received
 */
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
  if (!digest.digest().equals(sha256)) throw new Error('the stored file is not the one that was received')
}
