import { writeFile } from 'node:fs/promises'
import { openApiDocument } from '../openapi.ts'
import type { OfflineCommand } from './command.ts'

const file = new URL('../../docs/openapi.json', import.meta.url)

/** The text of docs/openapi.json. */
export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`
}

export const openApiCommand: OfflineCommand = {
  offline: true,
  noun: 'openapi',
  summary: 'Print the OpenAPI document of both APIs',
  options: { write: { description: 'write it to docs/openapi.json instead' } },
  async run(given) {
    if (given.write !== true) return { json: openApiDocument(), text: openApiText() }
    await writeFile(file, openApiText())
    return { json: { written: 'docs/openapi.json' }, text: 'wrote docs/openapi.json' }
  },
}
