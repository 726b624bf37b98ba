import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './temporary-folder.ts'

/** Makes a folder with one migration, as the next release would add it. @param sql one or more statements */
export function migrationFolder(name: string, sql: string): string {
  const folder = temporaryFolder('migrations')
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const up = `export const up = (knex) => knex.raw(${JSON.stringify(sql)})`
  writeFileSync(join(folder, name), `${up}\nexport const down = async () => {}\n`)
  return folder
}
