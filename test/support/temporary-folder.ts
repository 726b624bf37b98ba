import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []
process.once('exit', () => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

/** Makes a folder that is deleted when the test process ends. @param name the beginning of its name */
export function temporaryFolder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `${name}-`))
  made.push(path)
  return path
}
