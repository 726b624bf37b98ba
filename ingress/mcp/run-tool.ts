import { randomUUID } from 'node:crypto'
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { RateLimitedError } from '#shared/errors.ts'
import { parseWith } from '#shared/parse-with.ts'
import { takeCall } from '#shared/tenancy/agents/call-store.ts'
import { toSeconds } from '#shared/time.ts'
import type { IngressDeps } from '../deps.ts'
import { type Problem, toProblem } from '../errors.ts'
import { auditCall } from './audit.ts'
import type { AgentCaller } from './caller.ts'
import type { Tool, ToolCall } from './tool.ts'
import { tools } from './tools.ts'
import type { Refusal } from './transport.ts'

/** Last sentence of every answer. */
const CLOSING = 'Evidence, not a recommendation.'
/** Key in `_meta` of the call's id in the audit. */
const CALL_ID = 'signalbox/callId'

const CANCELLED = 'CANCELLED'

const DAY_SECONDS = 86_400

/**
 * Runs a tool and audits the call. Known errors have the codes of REST; all others become INTERNAL with the request id.
 * @param input arguments as received; invalid ones are refused here, with our own text
 */
export async function runTool(tool: Tool, input: Record<string, unknown>, call: ToolCall): Promise<CallToolResult> {
  const startedAt = performance.now()
  const { result, code } = await answerOf(tool, input, call)
  const { callId, units } = call
  const durationMs = performance.now() - startedAt
  await auditCall(call.deps, call.caller, { callId, tool: tool.name, input, code, units, durationMs })
  return { ...result, _meta: { [CALL_ID]: call.callId } }
}

async function answerOf(
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

/** Audit name of a read of a resource. */
const READ_RESOURCE = 'resources/read'

/** Error codes of JSON-RPC; the code of REST is added to the data. */
const PROTOCOL_CODES: Partial<Record<Problem['code'], number>> = {
  NOT_FOUND: ProtocolErrorCode.InvalidParams,
  VALIDATION_ERROR: ProtocolErrorCode.InvalidParams,
}

/**
 * Reads a resource with the limits, the audit and the error codes of a tool call.
 * @throws ProtocolError whose data equal the answer of a refused tool
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

/** @throws RateLimitedError if the calls of the day are used up */
async function countCall({ caller: { agentKeyId, dailyLimit }, deps }: ToolCall): Promise<void> {
  if (agentKeyId === null || (await takeCall(deps.db, agentKeyId, dailyLimit))) return
  throw new RateLimitedError('the calls of this key for today are used up', secondsOfDayLeft(toSeconds(deps.now())))
}

function secondsOfDayLeft(now: number): number {
  return Math.max(1, Math.ceil(DAY_SECONDS - (now % DAY_SECONDS)))
}

const CallSchema = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.literal('tools/call'),
  params: z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() }),
})

/** Audit name of an unknown tool, because the requested name is untrusted text. */
const NO_TOOL = 'unknown'

/**
 * Checks a message before a tool runs, and audits calls of tools that are unknown or not listed for the key.
 * @returns the refusal, which names the missing scope but not the requested tool; null if the tool may run
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
  const audited = { callId: randomUUID(), tool: tool?.name ?? NO_TOOL, input, code, units: 0, durationMs: 0 }
  await auditCall(deps, caller, audited)
  const text = tool
    ? `${tool.name} needs the scope ${tool.scope}, which this key does not have`
    : 'there is no such tool'
  return { id: call.data.id, code: -32602, message: text }
}
