import { chmodSync, existsSync, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder in memory on Linux. */
const IN_MEMORY = '/dev/shm'
/** Twice the space that the servers of a whole run take there. */
const FOLDER_BYTES = 4 * 1024 ** 3
/** Includes the memory of the processes of the run. */
const MEMORY_BYTES = 8 * 1024 ** 3

/**
 * Makes the folder in which the servers of a run keep their data: in memory where there is plenty, because every test
 * file copies a database of a thousand files and removes it. A file system on a disk searches long for a free inode for
 * a new file after many deletions (ext4: `recently_deleted`), which was half of PostgreSQL's processor time.
 */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(fitsInMemory() ? IN_MEMORY : tmpdir(), 'signalbox-test-'))
  chmodSync(folder, 0o755) // servers run as separate users
  return folder
}

function fitsInMemory(): boolean {
  if (!existsSync(IN_MEMORY) || process.availableMemory() < MEMORY_BYTES) return false
  const { bavail, bsize } = statfsSync(IN_MEMORY)
  return bavail * bsize >= FOLDER_BYTES
}
