import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { insertProject } from '#shared/monitoring/projects/store.ts'
import type { ApiClient } from '../../support/platform-client.ts'
import type { Product } from '../../support/product.ts'

/** Supported versions of the protocol (docs/spec/evidence-families.md#agent-endpoint). */
export const ERAS = ['2026-07-28', '2025-11-25'] as const
export type Era = (typeof ERAS)[number]

export interface AgentKeyOptions {
  scopes?: string[]
  projects?: string[]
  dailyLimit?: number
  budgets?: Record<string, { perDay?: number; perMonth?: number }>
}

/** Creates an agent key through the API. */
export async function makeKey(
  maker: ApiClient,
  { scopes = ['agents:invoke'], ...rest }: AgentKeyOptions = {},
): Promise<{ keyId: string; key: string }> {
  const { status, json } = await maker.post('/v1/agents/keys', { name: 'assistant', scopes, ...rest })
  if (status !== 201) throw new Error(`no key was made: ${JSON.stringify(json)}`)
  return { keyId: json.keyId, key: json.key }
}

/** Connects the official client with a bearer token. */
export async function connect(base: string, bearer: string, era: Era = '2026-07-28'): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' } },
  )
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', base), {
      requestInit: { headers: { Authorization: `Bearer ${bearer}` } },
    }),
  )
  return client
}

/** Calls a tool and returns its structured content, and true for `isError` if it failed. */
export async function callTool(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { isError = false, structuredContent, content, _meta } = await client.callTool({ name, arguments: args })
  // biome-ignore lint/suspicious/noExplicitAny: the answer under test
  return { isError, result: structuredContent as any, content, callId: _meta?.['signalbox/callId'] }
}

/** Sends a raw POST to the endpoint, which may be invalid. */
export async function rawPost(
  base: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; json: Record<string, unknown> }> {
  const response = await fetch(new URL('/mcp', base), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, json: text.startsWith('{') ? JSON.parse(text) : {} }
}

/** Adds a project to the maker's organisation and returns its ids. */
export async function addProjectOf(product: Product, maker: ApiClient): Promise<{ id: number; uuid: string }> {
  const { organisationId: uuid } = maker.credentials
  const organisation = await product.db('organisations').where({ uuid }).first('id')
  const { id, uuid: projectUuid } = await insertProject(product.db, {
    organisationId: Number(organisation.id),
    name: 'Watched',
  })
  return { id, uuid: projectUuid }
}
