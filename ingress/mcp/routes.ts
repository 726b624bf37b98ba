import { z } from 'zod'
import { toolsResource } from '#shared/tenancy/oauth/access-token.ts'
import { OFFERED_SCOPES } from '#shared/tenancy/oauth/families.ts'
import { clientAddress } from '../middleware/request-safety.ts'
import { problemResponses } from '../problem-responses.ts'
import { DISCOVERY_HEADERS, defineRoute, type Route } from '../route.ts'
import {
  authenticateAgent,
  beginCall,
  limitAgent,
  RESOURCE_METADATA_PATH,
  refuseForeignOrigin,
  requireInvoke,
} from './caller.ts'
import { followMessage } from './cancellation.ts'

const RpcSchema = z
  .object({ jsonrpc: z.literal('2.0'), id: z.unknown().optional(), method: z.string(), params: z.unknown().optional() })
  .meta({ id: 'McpRequest' })

const toolsRoute = defineRoute({
  method: 'post',
  path: '/mcp',
  operationId: 'callTools',
  summary: 'Call agent tools over the Model Context Protocol',
  description:
    'Streamable HTTP of the revisions 2026-07-28 (no session) and 2025-11-25. The bearer is an agent key, or an access ' +
    'token that was requested with `resource=<address of the server>/mcp`.',
  tags: ['Agent tools'],
  security: ['agentKey'],
  scopes: ['agents:invoke'],
  params: {},
  body: { required: true, content: { 'application/json': RpcSchema } },
  responses: {
    200: { description: 'The answer', content: { 'application/json': null, 'text/event-stream': null } },
    202: { description: 'The notification was accepted' },
    ...problemResponses(401, 403, 413, 415, 429, 503),
  },
  async handle(request, response, deps) {
    const caller = await authenticateAgent(request, response, deps, deps.agents)
    refuseForeignOrigin(request, deps.config)
    requireInvoke(caller)
    limitAgent(caller, response, deps, deps.agents)
    // Loaded by the first call: the protocol's packages take more memory than all pages.
    const [{ refuseCall }, { toolServer }, { answerMessage }] = await Promise.all([
      import('./run-tool.ts'),
      import('./tool-server.ts'),
      import('./transport.ts'),
    ])
    const from = `${caller.keyId} ${clientAddress(request, deps)}`
    const follow = (message: unknown) => followMessage(message, from, deps.agents.cancellable)
    const serve = (cancelled: AbortSignal) => toolServer(caller, response, deps, cancelled)
    const refuse = (message: unknown) => refuseCall(message, caller, deps)
    const end = beginCall(caller, deps.agents)
    try {
      await answerMessage(request, response, { serve, refuse, follow, log: deps.log })
    } finally {
      end()
    }
  },
})

const resourceMetadataRoute = defineRoute({
  method: 'get',
  path: RESOURCE_METADATA_PATH,
  operationId: 'getToolsResourceMetadata',
  summary: 'Get the metadata of the agent tools as a protected resource',
  tags: ['Agent tools'],
  security: [],
  params: {},
  responses: { 200: { description: 'Metadata (RFC 9728)', content: { 'application/json': null } } },
  handle(_request, response, { config }) {
    response.set(DISCOVERY_HEADERS)
    response.json({
      resource: toolsResource(config.publicUrl),
      authorization_servers: [config.publicUrl],
      scopes_supported: OFFERED_SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'Signalbox agent tools',
      resource_documentation: `${config.publicUrl}/docs`,
    })
  },
})

export const mcpRoutes: readonly Route[] = [toolsRoute, resourceMetadataRoute]
