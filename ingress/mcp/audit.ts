import { hash } from 'node:crypto'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { enterTenant } from '#shared/platform/database/tenant.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { insertAgentCall } from '#shared/tenancy/agents/call-store.ts'
import { toDate } from '#shared/time.ts'
import type { IngressDeps } from '../deps.ts'
import type { AgentCaller } from './caller.ts'

/** An audited call. Refused calls are audited too. */
export interface AuditedCall {
  callId: string
  tool: string
  /** the arguments as received: parsed JSON always has a canonical form */
  input: Record<string, unknown>
  /** `OK`, the code of the error, or `CANCELLED` */
  code: string
  /** metered units that the call caused */
  units: number
  durationMs: number
}

/** Stores a call. If this fails, the call has still happened: the row is written to the log. */
export async function auditCall(
  deps: Pick<IngressDeps, 'db' | 'log' | 'now'>,
  caller: AgentCaller,
  { callId, tool, input, code, units, durationMs }: AuditedCall,
): Promise<void> {
  try {
    enterTenant({ organisationId: caller.organisationId })
    await insertAgentCall(deps.db, caller, {
      ...{ callId, tool, code, units },
      argumentsDigest: hash('sha256', canonicalize(input), 'buffer'),
      durationMs: Math.round(durationMs),
      calledAt: toDate(deps.now()),
    })
  } catch (error) {
    deps.log.error({ callId, keyId: caller.keyId, tool, ...describeError(error) }, 'agent-call.not-audited')
  }
}
