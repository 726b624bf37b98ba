import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import { type JsonError, JsonParseError } from '#shared/canonical/json-parser.ts'
import { type JsonValue, parseJsonBytes } from '#shared/canonical/parse-json.ts'
import type { Log } from '#shared/platform/process/log.ts'
import { limitValues, readBody } from '../middleware/body.ts'

const MAX_BODY_BYTES = 1_048_576
/** As under `/v1`, because each value costs time of the event loop. */
const MAX_VALUES = 20_000

export interface Refusal {
  id: string | number
  code: number
  message: string
}

/**
 * Answers one message of either protocol revision, without state between messages.
 * @param serve creates the server of this request; its calls end when the signal is aborted
 * @param refuse checks the message first; null accepts it
 * @param follow aborts a call that another message cancels, until it is disposed of
 * @throws PayloadTooLargeError beyond one MiB
 */
export async function answerMessage(
  request: IncomingMessage,
  response: ServerResponse,
  {
    serve,
    refuse,
    follow,
    log,
  }: {
    serve: (cancelled: AbortSignal) => McpServer
    refuse?: (message: unknown) => Promise<Refusal | null>
    follow?: (message: unknown) => Disposable & { signal: AbortSignal }
    log: Log
  },
): Promise<void> {
  const body = await readBody(request, MAX_BODY_BYTES)
  limitValues(request, Math.min(MAX_VALUES, body.length / 2))
  const message = parsed(body)
  // JSON-RPC 2.0 section 5.1: an unparsable message has a null id.
  if ('fault' in message) return sendError(response, 400, null, -32700, `Parse error: ${message.fault}`)
  const refusal = await refuse?.(message.value)
  if (refusal) return sendError(response, 200, refusal.id, refusal.code, refusal.message)
  using followed = follow?.(message.value)
  const cancelled = followed?.signal ?? new AbortController().signal
  const handler = createMcpHandler(() => serve(cancelled), {
    maxSubscriptions: 0, // tools and resources do not change at runtime
    onerror: (error) => log.debug({ error: error.message }, 'mcp.refused'),
  })
  // A parsed server request always has a method and a target; the type is shared with client responses.
  const incoming = request as IncomingMessage & { method: string; url: string }
  await toNodeHandler(handler)(incoming, response, message.value)
}

/** Parses as strictly as bodies of the API, because the audit needs a canonical form. */
function parsed(body: Buffer): { value: JsonValue } | { fault: JsonError } {
  try {
    return { value: parseJsonBytes(body, { maxValues: MAX_VALUES }) }
  } catch (error) {
    if (error instanceof JsonParseError) return { fault: error.fault }
    throw error
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
