import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import type { IngressDeps } from '../deps.ts'
import type { AgentCaller } from './caller.ts'
import { FORMULAS, TIERS } from './glossary.ts'
import { packOf } from './tools/packs.ts'

/** What agents may read beside calling tools (families 8.3): the words of the evidence, and packs of the caller's own. */
export function registerResources(server: McpServer, caller: AgentCaller, deps: IngressDeps): void {
  for (const [name, uri, title, text] of [
    ['tiers', 'signalbox://glossary/tiers', 'What tiers and levels mean', TIERS],
    ['formulas', 'signalbox://glossary/formulas', 'How figures of a pack are computed', FORMULAS],
  ] as const) {
    server.registerResource(name, uri, { title, mimeType: 'text/markdown' }, () => ({
      contents: [{ uri, mimeType: 'text/markdown', text }],
    }))
  }
  if (!caller.scopes.has('risk-signals:read')) return
  server.registerResource(
    'pack',
    new ResourceTemplate('signalbox://packs/{packId}', { list: undefined }),
    { title: 'A risk signals pack', mimeType: 'application/json' },
    async (uri, { packId }) => {
      const pack = await packOf(String(packId), caller, deps)
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(pack) }] }
    },
  )
}
