import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { readCheckpoint } from '../anchoring/checkpoint.ts'
import type { NoteKey } from '../anchoring/note-key.ts'
import { toHex } from '../anchoring/text.ts'

/** Stores the last signed checkpoint outside the database, so that a restored backup is recognised. */
export interface CheckpointFile {
  readonly path: string
  read(): Promise<string | undefined>
  /** Durable when it resolves. Ignores a note of a smaller tree than the saved one. */
  write(note: string): Promise<void>
}

/** Each log has its own file, so installations may share a folder. */
export function checkpointFile(directory: string, key: NoteKey): CheckpointFile {
  const path = join(directory, `${key.name.split('/').at(-1)}-${toHex(key.id)}.checkpoint`)

  async function read(): Promise<string | undefined> {
    try {
      return await readFile(path, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
  }

  return {
    path,
    read,
    async write(note) {
      const saved = await read()
      // A process that was suspended may write an older one late.
      if (saved !== undefined && readCheckpoint(saved).size >= readCheckpoint(note).size) return
      await mkdir(directory, { recursive: true })
      const draft = `${path}.${process.pid}.draft`
      const file = await open(draft, 'w', 0o600)
      try {
        await file.writeFile(note)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
      // The rename itself must survive a power failure.
      const folder = await open(directory, 'r')
      try {
        await folder.sync()
      } finally {
        await folder.close()
      }
    },
  }
}
