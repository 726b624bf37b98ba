import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { IngressDeps } from '../deps.ts'
import { auditCall } from './audit.ts'
import type { AgentCaller } from './caller.ts'
import { tools } from './tools.ts'
import type { Refusal } from './transport.ts'

const CallSchema = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.literal('tools/call'),
  params: z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() }),
})

/** What the audit calls a tool that there is not: the name that was tried is somebody else's text. */
const NO_TOOL = 'unknown'

/**
 * Looks at a message before a tool can run, and writes a call that reaches none into the audit: of a tool that there is
 * not, of one that the key does not list.
 * @returns what tells the client which scope is missing, without the name that was tried; null for a tool that may run
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
