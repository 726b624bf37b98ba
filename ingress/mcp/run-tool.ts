import { randomUUID } from 'node:crypto'
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { RateLimitedError } from '#shared/errors.ts'
import { parseWith } from '#shared/parse-with.ts'
import { countAgentCall } from '#shared/tenancy/agents/call-store.ts'
import { toSeconds } from '#shared/time.ts'
import type { IngressDeps } from '../deps.ts'
import { type Problem, toProblem } from '../errors.ts'
import { auditCall } from './audit.ts'
import type { AgentCaller } from './caller.ts'
import type { Tool, ToolCall } from './tool.ts'
import { tools } from './tools.ts'
import type { Refusal } from './transport.ts'

/** Last line of the text of every successful tool result. */
const CLOSING = 'Evidence, not a recommendation.'
/** Member of `_meta` with the id under which the call is audited. */
const CALL_ID = 'signalbox/callId'

const CANCELLED = 'CANCELLED'

const DAY_SECONDS = 86_400

/**
 * Runs a tool and audits the call. Errors become results with the code of the REST API and the request id; the code of
 * unexpected errors is INTERNAL.
 * @param input unvalidated arguments; they are validated here, so that errors have the same form as those of the API
 */
export async function runTool(tool: Tool, input: Record<string, unknown>, call: ToolCall): Promise<CallToolResult> {
  const startedAt = performance.now()
  const { result, code } = await callTool(tool, input, call)
  const { callId, units } = call
  const durationMs = performance.now() - startedAt
  await auditCall(call.deps, call.caller, { callId, tool: tool.name, input, code, units, durationMs })
  return { ...result, _meta: { [CALL_ID]: call.callId } }
}

async function callTool(
  tool: Tool,
  input: Record<string, unknown>,
  call: ToolCall,
): Promise<{ result: CallToolResult; code: string }> {
  try {
    const args = parseWith(tool.input, input, 'the arguments')
    await countCall(call)
    const output = tool.output.parse(await tool.run(args, call))
    const text = `${JSON.stringify(output)}\n${CLOSING}`
    return { result: { structuredContent: output, content: [{ type: 'text', text }] }, code: 'OK' }
  } catch (error) {
    if (call.signal.aborted) return { result: { isError: true, content: [] }, code: CANCELLED }
    const { code, message, errors, retryAfterSeconds } = toProblem(error, call.response, call.deps)
    const body = {
      code,
      message,
      errors: errors.map((each) => ({ ...each })),
      requestId: call.requestId,
      ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
    }
    const text = [...new Set([message, ...errors.map((each) => each.message)])].join('\n')
    return { result: { isError: true, structuredContent: body, content: [{ type: 'text', text }] }, code }
  }
}

/** Tool name under which reads of resources are audited. */
const READ_RESOURCE = 'resources/read'

/** JSON-RPC code by code of the REST API; all others are InternalError. */
const PROTOCOL_CODES: Partial<Record<Problem['code'], number>> = {
  NOT_FOUND: ProtocolErrorCode.InvalidParams,
  VALIDATION_ERROR: ProtocolErrorCode.InvalidParams,
}

/**
 * Reads a resource. The read counts against the daily limit and is audited, like a tool call.
 * @throws ProtocolError with the `data` {code, requestId}, where `code` is that of the REST API
 */
export async function readResource(uri: string, call: ToolCall, read: () => Promise<string>): Promise<string> {
  const startedAt = performance.now()
  let code = 'OK'
  try {
    await countCall(call)
    return await read()
  } catch (error) {
    const problem = toProblem(error, call.response, call.deps)
    code = call.signal.aborted ? CANCELLED : problem.code
    const number = PROTOCOL_CODES[problem.code] ?? ProtocolErrorCode.InternalError
    throw new ProtocolError(number, problem.message, { code: problem.code, requestId: call.requestId })
  } finally {
    const durationMs = performance.now() - startedAt
    const { callId, units } = call
    await auditCall(call.deps, call.caller, { callId, tool: READ_RESOURCE, input: { uri }, code, units, durationMs })
  }
}

/** Counts a call of an agent key. @throws RateLimitedError if its daily limit is reached */
async function countCall({ caller: { agentKeyId, dailyLimit }, deps }: ToolCall): Promise<void> {
  if (agentKeyId === null || (await countAgentCall(deps.db, agentKeyId, dailyLimit))) return
  throw new RateLimitedError('the daily limit of calls of this key is reached', secondsOfDayLeft(toSeconds(deps.now())))
}

function secondsOfDayLeft(now: number): number {
  return Math.max(1, Math.ceil(DAY_SECONDS - (now % DAY_SECONDS)))
}

const CallSchema = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.literal('tools/call'),
  params: z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() }),
})

/** Audited instead of the name of an unknown tool, which is untrusted text. */
const UNKNOWN_TOOL = 'unknown'

/**
 * Refuses and audits calls of unknown tools, and of tools whose scope the key lacks.
 * @returns null if the tool may run or the message is no tool call. The text names the missing scope and a known tool,
 * but never repeats the name of an unknown tool.
 */
export async function refuseCall(
  message: unknown,
  caller: AgentCaller,
  deps: Pick<IngressDeps, 'db' | 'log' | 'now'>,
): Promise<Refusal | null> {
  const call = CallSchema.safeParse(message)
  if (!call.success) return null
  const { name, arguments: input = {} } = call.data.params
  const tool = tools.find((each) => each.name === name)
  if (tool && caller.scopes.has(tool.scope)) return null
  const code = tool ? 'FORBIDDEN' : 'NOT_FOUND'
  const audited = { callId: randomUUID(), tool: tool?.name ?? UNKNOWN_TOOL, input, code, units: 0, durationMs: 0 }
  await auditCall(deps, caller, audited)
  const text = tool
    ? `${tool.name} needs the scope ${tool.scope}, which this key does not have`
    : 'there is no such tool'
  return { id: call.data.id, code: -32602, message: text }
}
