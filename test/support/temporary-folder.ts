import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A new folder for files of a test; it goes with the process of its test file.
 * @param name how its own name begins
 * @returns its path
 */
export function temporaryFolder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `${name}-`))
  process.once('exit', () => rmSync(path, { recursive: true, force: true }))
  return path
}
