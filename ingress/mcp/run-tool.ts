import type { CallToolResult } from '@modelcontextprotocol/server'
import { RateLimitedError } from '#shared/errors.ts'
import { takeCall } from '#shared/tenancy/agents/call-store.ts'
import { toSeconds } from '#shared/time.ts'
import { toProblem } from '../errors.ts'
import { auditCall } from './audit.ts'
import type { Tool, ToolCall } from './tool.ts'

/** What every answer ends with: the product gives evidence (risk-signals 1). */
const CLOSING = 'Evidence, not a recommendation.'
/** Where in `_meta` a client finds the id under which the audit has its call. */
const CALL_ID = 'signalbox/callId'

/** The outcome of a call that nobody waits for any more. */
const CANCELLED = 'CANCELLED'

const DAY_SECONDS = 86_400

/**
 * Runs a tool and writes the call into the audit. Nothing thrown reaches the client as it is: what is known is told
 * with the code that REST has for it, and everything else is INTERNAL with the request id.
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
  const { caller, deps } = call
  try {
    const { agentKeyId, dailyLimit } = caller
    if (agentKeyId !== null && !(await takeCall(deps.db, agentKeyId, dailyLimit))) {
      throw new RateLimitedError('the calls of this key for today are used up', secondsOfDayLeft(toSeconds(deps.now())))
    }
    const output = tool.output.parse(await tool.run(input, call))
    const text = `${JSON.stringify(output)}\n${CLOSING}`
    return { result: { structuredContent: output, content: [{ type: 'text', text }] }, code: 'OK' }
  } catch (error) {
    if (call.signal.aborted) return { result: { isError: true, content: [] }, code: CANCELLED }
    const { code, message, errors, retryAfterSeconds } = toProblem(error, call.response, deps)
    const body = {
      code,
      message,
      errors: errors.map((each) => ({ ...each })),
      requestId: call.requestId,
      ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
    }
    const text = [message, ...errors.map((each) => `${each.path}: ${each.message}`)].join('\n')
    return { result: { isError: true, structuredContent: body, content: [{ type: 'text', text }] }, code }
  }
}

function secondsOfDayLeft(now: number): number {
  return Math.max(1, Math.ceil(DAY_SECONDS - (now % DAY_SECONDS)))
}
