import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import type { Log } from '#shared/platform/process/log.ts'
import { readBody } from '../middleware/body.ts'

const MAX_BODY_BYTES = 1_048_576

/** What a message is refused with before the protocol's own code sees it. */
export interface Refusal {
  id: string | number
  code: number
  message: string
}

/**
 * Answers one message of either revision; nothing is kept between two.
 * @param serve a server for this request alone
 * @param refuse looks at the message first; null lets it pass
 * @throws PayloadTooLargeError beyond one MiB
 */
export async function answerMessage(
  request: IncomingMessage,
  response: ServerResponse,
  { serve, refuse, log }: { serve: () => McpServer; refuse?: (message: unknown) => Refusal | null; log: Log },
): Promise<void> {
  const body = await readBody(request, MAX_BODY_BYTES)
  const message = parsedOrNull(body)
  // JSON-RPC 2.0 section 5.1: what is not JSON has no id to answer to.
  if (message === null) return sendError(response, 400, null, -32700, 'Parse error')
  const refusal = refuse?.(message.value)
  if (refusal) return sendError(response, 200, refusal.id, refusal.code, refusal.message)
  const handler = createMcpHandler(serve, {
    maxSubscriptions: 0, // nothing of ours changes while a client listens
    onerror: (error) => log.debug({ error: error.message }, 'mcp.refused'),
  })
  // What a server has parsed has a method and a target; the type is that of answers to clients too.
  const parsed = request as IncomingMessage & { method: string; url: string }
  await toNodeHandler(handler)(parsed, response, message.value)
}

function parsedOrNull(body: Buffer): { value: unknown } | null {
  try {
    return { value: JSON.parse(body.toString('utf8')) }
  } catch {
    return null
  }
}

function sendError(
  response: ServerResponse,
  status: number,
  id: string | number | null,
  code: number,
  message: string,
): void {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
}
