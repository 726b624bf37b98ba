import { writeFile } from 'node:fs/promises'
import type { Setting } from '#shared/platform/process/setting.ts'
import { settings } from '#shared/platform/process/settings.ts'
import { gatewayOpenapi } from '#shared/risk/registries/gateway-openapi.ts'
import { openApiDocument, openApiFile } from '../openapi.ts'
import type { OfflineCommand } from './command.ts'

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
  async run(options) {
    if (options.registries === true) {
      const json = gatewayOpenapi()
      return { json, text: `${JSON.stringify(json, null, 2)}\n` }
    }
    if (options.write !== true) return { json: openApiDocument(), text: openApiText() }
    await writeFile(openApiFile, openApiText())
    return { json: { written: 'docs/openapi.json' }, text: 'wrote docs/openapi.json' }
  },
}

const file = new URL('../../docs/settings.md', import.meta.url)

export function settingsDocument(): string {
  const rows = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
    const fallback = setting.fallback === undefined || setting.fallback === '' ? '' : `\`${setting.fallback}\``
    const notes = `${setting.secret ? ' Secret.' : ''}${setting.deprecated ? ` Deprecated: ${setting.deprecated}.` : ''}`
    return `| \`${name}\` | ${fallback} | ${setting.doc}${notes} |`
  })
  return [
    '# Settings',
    '',
    'Every setting is an environment variable. `NAME_FILE` may name a file that holds the value of `NAME`. This page is',
    'made by `npm run -s admin -- settings --write`.',
    '',
    '| Name | Default | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

export const settingsCommand: OfflineCommand = {
  offline: true,
  noun: 'settings',
  summary: 'Print the table of all settings',
  options: { write: { description: 'write it to docs/settings.md instead' } },
  async run(options) {
    const text = settingsDocument()
    if (options.write !== true) return { json: Object.keys(settings), text }
    await writeFile(file, text)
    return { json: { written: 'docs/settings.md' }, text: 'wrote docs/settings.md' }
  },
}
