import { readFileSync } from 'node:fs'
import { join } from 'node:path'

let known: string | undefined

export function productVersion(): string {
  known ??= String(JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')).version)
  return known
}
