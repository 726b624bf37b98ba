import { writeFile } from 'node:fs/promises'
import { gatewayOpenapi } from '#shared/risk/registries/gateway-openapi.ts'
import { openApiDocument, openApiFile } from '../openapi.ts'
import type { OfflineCommand } from './command.ts'

/** The text of docs/openapi.json. */
export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`
}

export const openApiCommand: OfflineCommand = {
  offline: true,
  noun: 'openapi',
  summary: 'Print the OpenAPI document of both APIs',
  options: {
    write: { description: 'write it to docs/openapi.json instead' },
    registries: { description: 'print what a gateway to the registries must offer instead' },
  },
  async run(given) {
    if (given.registries === true) {
      const json = gatewayOpenapi()
      return { json, text: `${JSON.stringify(json, null, 2)}\n` }
    }
    if (given.write !== true) return { json: openApiDocument(), text: openApiText() }
    await writeFile(openApiFile, openApiText())
    return { json: { written: 'docs/openapi.json' }, text: 'wrote docs/openapi.json' }
  },
}
