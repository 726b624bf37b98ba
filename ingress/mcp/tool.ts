import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { Response } from 'express'
import { z } from 'zod'
import type { MONITORING_SCOPES } from '#shared/tenancy/agents/agent-key.ts'
import type { Scope } from '#shared/tenancy/oauth/families.ts'
import type { IngressDeps } from '../deps.ts'
import type { AgentCaller } from './caller.ts'

/** One call of one tool, as its tool sees it. */
export interface ToolCall {
  caller: AgentCaller
  deps: IngressDeps
  response: Response
  callId: string
  requestId: string
  /** aborted when the call is cancelled or its client has gone: what waits then stops waiting */
  signal: AbortSignal
  /** metered units that the call caused; the audit keeps them */
  units: number
}

/** A tool as it is registered: its words, who may call it, and the operation behind it. */
export interface Tool {
  name: string
  title: string
  /** fixed text of ours; what others wrote never stands here */
  description: string
  scope: Scope | (typeof MONITORING_SCOPES)[number]
  annotations: ToolAnnotations
  /** strict: an unknown argument is refused */
  input: z.ZodObject
  /** declares every member of the answer */
  output: z.ZodType<Record<string, unknown>>
  run(input: Record<string, unknown>, call: ToolCall): Promise<Record<string, unknown>>
}

/** Declares a tool; `run` is typed by its schemas. Every tool accepts an `idempotencyKey` and no unknown argument. */
export function defineTool<In extends z.ZodObject, Out extends z.ZodType<Record<string, unknown>>>(
  tool: Omit<Tool, 'input' | 'output' | 'run'> & {
    input: In
    output: Out
    run(input: z.infer<In>, call: ToolCall): Promise<z.infer<Out>>
  },
): Tool {
  const shape = { idempotencyKey: z.string().optional(), ...tool.input.shape }
  const input = z.strictObject(shape).meta({ ...tool.input.meta() })
  // Tool differs only in not naming the members; the server checks both against their schemas.
  return { ...tool, input } as unknown as Tool
}

/** Looks and changes nothing. */
export const READ_ONLY: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }
/** Has an effect, and the same call again has no further one. */
export const IDEMPOTENT: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}
