import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Response } from 'express'
import { z } from 'zod'
import { MONITORING_SCOPES } from '#shared/tenancy/agents/agent-key.ts'
import { OFFERED_SCOPES } from '#shared/tenancy/oauth/families.ts'
import { readBody } from '../middleware/body.ts'
import { problemResponses } from '../risk/documents.ts'
import { defineRoute, type Route } from '../route.ts'
import {
  type AgentCaller,
  authenticateAgent,
  limitAgent,
  RESOURCE_METADATA_PATH,
  refuseForeignOrigin,
  requireInvoke,
  toolsResource,
} from './caller.ts'
import { toolServer } from './tool-server.ts'
import { tools } from './tools.ts'

const MAX_BODY_BYTES = 1_048_576

const RpcSchema = z
  .object({ jsonrpc: z.literal('2.0'), id: z.unknown().optional(), method: z.string(), params: z.unknown().optional() })
  .meta({ id: 'McpRequest' })

const toolsRoute = defineRoute({
  method: 'post',
  path: '/mcp',
  operationId: 'callTools',
  summary: 'Agent tools over the Model Context Protocol',
  description:
    'Streamable HTTP of the revisions 2026-07-28 (no session) and 2025-11-25. The bearer is an agent key, or an access ' +
    'token that was asked for with `resource=<address of the server>/mcp`.',
  tags: ['Agent tools'],
  security: ['agentKey'],
  params: {},
  body: { required: true, content: { 'application/json': RpcSchema } },
  responses: {
    200: { description: 'The answer', content: { 'application/json': null, 'text/event-stream': null } },
    202: { description: 'A notification was taken' },
    ...problemResponses(401, 403, 413, 415, 429, 503),
  },
  async handle(request, response, deps) {
    const caller = await authenticateAgent(request, response, deps, deps.agents)
    refuseForeignOrigin(request, deps)
    requireInvoke(caller)
    limitAgent(caller, response, deps, deps.agents)
    const body = await readBody(request, MAX_BODY_BYTES)
    const message = parsedOrNull(body)
    if (message === null) return refuseMessage(response, null, -32700, 'Parse error', 400)
    const missing = missingScope(message.value, caller)
    if (missing) return refuseMessage(response, missing.id, -32602, missing.text, 200)
    const handler = createMcpHandler(() => toolServer(caller, response, deps), {
      maxSubscriptions: 0, // nothing of ours changes while a client listens
      onerror: (error) => deps.log.debug({ error: error.message }, 'mcp.refused'),
    })
    await toNodeHandler(handler)(request, response, message.value)
  },
})

function parsedOrNull(body: Buffer): { value: unknown } | null {
  try {
    return { value: JSON.parse(body.toString('utf8')) }
  } catch {
    return null
  }
}

/** An error of JSON-RPC 2.0 (section 5.1); what is not JSON has no id to answer to. */
function refuseMessage(
  response: Response,
  id: string | number | null,
  code: number,
  message: string,
  status: number,
): void {
  response.status(status).json({ jsonrpc: '2.0', id, error: { code, message } })
}

const CallSchema = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.literal('tools/call'),
  params: z.object({ name: z.string() }),
})

/** A call of a tool that the key does not list is no call of an unknown tool: it is told which scope is missing. */
function missingScope(message: unknown, { scopes }: AgentCaller): { id: string | number; text: string } | null {
  const call = CallSchema.safeParse(message)
  const tool = call.success ? tools.find(({ name }) => name === call.data.params.name) : undefined
  if (!call.success || !tool || scopes.has(tool.scope)) return null
  return { id: call.data.id, text: `${tool.name} needs the scope ${tool.scope}, which this key does not have` }
}

const resourceMetadataRoute = defineRoute({
  method: 'get',
  path: RESOURCE_METADATA_PATH,
  operationId: 'getToolsResourceMetadata',
  summary: 'Where tokens for the agent tools are given out',
  tags: ['Agent tools'],
  security: [],
  params: {},
  responses: { 200: { description: 'Metadata (RFC 9728)', content: { 'application/json': null } } },
  handle(_request, response, { config }) {
    response.setHeader('Cache-Control', 'public, max-age=300')
    response.json({
      resource: toolsResource(config.publicUrl),
      authorization_servers: [config.publicUrl],
      scopes_supported: [...new Set([...OFFERED_SCOPES, ...MONITORING_SCOPES])].toSorted(),
      bearer_methods_supported: ['header'],
      resource_name: 'Signalbox agent tools',
      resource_documentation: `${config.publicUrl}/docs`,
    })
  },
})

export const mcpRoutes: readonly Route[] = [toolsRoute, resourceMetadataRoute]
