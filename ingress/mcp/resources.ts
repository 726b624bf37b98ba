import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import type { AgentCaller } from './caller.ts'
import { readResource } from './run-tool.ts'
import { FORMULAS, TIERS, type ToolCall } from './tool.ts'
import { packOf } from './tools/packs.ts'

/**
 * Resources for agents (docs/spec/evidence-families.md#agent-tools): terms of the evidence, and packs of the caller.
 * @param callOf creates the call of a read
 */
export function registerResources(
  server: McpServer,
  caller: AgentCaller,
  callOf: (signal: AbortSignal) => ToolCall,
): void {
  for (const [name, uri, title, text] of [
    ['tiers', 'signalbox://glossary/tiers', 'What tiers and levels mean', TIERS],
    ['formulas', 'signalbox://glossary/formulas', 'How figures of a pack are computed', FORMULAS],
  ] as const) {
    const mimeType = 'text/markdown'
    server.registerResource(name, uri, { title, mimeType }, async (_uri, { mcpReq }) => {
      const read = await readResource(uri, callOf(mcpReq.signal), async () => text)
      return { contents: [{ uri, mimeType, text: read }] }
    })
  }
  if (!caller.scopes.has('risk-signals:read')) return
  const mimeType = 'application/json'
  server.registerResource(
    'pack',
    new ResourceTemplate('signalbox://packs/{packId}', { list: undefined }),
    { title: 'A risk signals pack', mimeType },
    async (uri, { packId }, { mcpReq }) => {
      const call = callOf(mcpReq.signal)
      const read = async () => JSON.stringify(await packOf(String(packId), caller, call.deps))
      return { contents: [{ uri: uri.href, mimeType, text: await readResource(uri.href, call, read) }] }
    },
  )
}
