import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Micros, microsOfSeconds } from '../../time.ts'
import type { Mark } from '../database/restore-mark-store.ts'

/** Allowed loss of a database that was not restored: a fail-over to a standby that lagged. */
const MAY_LAG: Micros = microsOfSeconds(60)

const shape = z.array(z.object({ id: z.string(), at: z.number() }))

/** Backups do not contain this folder. */
export interface RestoreMarkFile {
  readonly path: string
  /** Returns an empty list before the first write, and for an unreadable file. */
  read(): Promise<Mark[]>
  write(marks: readonly Mark[]): Promise<void>
}

export function restoreMarkFile(directory: string, installation: string): RestoreMarkFile {
  const path = join(directory, `${installation}.marks`)
  return {
    path,
    async read() {
      try {
        return shape.parse(JSON.parse(await readFile(path, 'utf8')))
      } catch {
        return []
      }
    },
    async write(marks) {
      await mkdir(directory, { recursive: true })
      const draft = `${path}.${process.pid}.draft`
      const file = await open(draft, 'w', 0o600)
      try {
        await file.writeFile(JSON.stringify(marks))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
    },
  }
}

export function isRestored(kept: readonly Mark[], known: readonly string[]): boolean {
  if (kept.length === 0) return false
  const newest = Math.max(...kept.map(({ at }) => at))
  const newestKnown = Math.max(...kept.filter(({ id }) => known.includes(id)).map(({ at }) => at))
  return !(newest - newestKnown <= MAY_LAG)
}
