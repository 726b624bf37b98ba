import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { z } from 'zod'
import { DEFAULT_WAIT_MS } from '#shared/jobs/job.ts'
import type { JobContext } from '#shared/jobs/operations/jobs.ts'
import { announceExhausted, BudgetExhaustedError, spendBudget } from '#shared/risk/operations/identity-verifications.ts'
import type { SpentFamily } from '#shared/tenancy/agents/agent-key.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { toSeconds } from '#shared/time.ts'
import { idempotentRequest } from './idempotent.ts'
import { markCallers, type ToolCall } from './tool.ts'

interface EvidenceRequest<Answer> {
  route: string
  family: SpentFamily
  /** absent if each call is a new request */
  idempotencyKey: string | undefined
  args: Record<string, unknown>
  /** answer of the API, with texts of callers marked */
  answer: z.ZodType<Answer>
}

/**
 * Runs the same job as the POST at `route` with the same key and body, and waits for ten seconds. A new request costs a
 * unit of the key's budget.
 */
export async function runEvidenceJob<Answer>(
  call: ToolCall,
  { route, family, idempotencyKey = randomUUID(), args, answer: schema }: EvidenceRequest<Answer>,
  work: (context: JobContext, admit: Admit) => Promise<StoredAnswer>,
): Promise<Answer> {
  const once = idempotentRequest(call.caller, route, idempotencyKey, args)
  const answer = await spending(call, family, (admit) => work({ ...contextOf(call), once }, admit))
  return schema.parse(markCallers(JSON.parse(answer.body)))
}

/** The wait of the job ends with the call. */
export function contextOf({ caller, deps, signal }: ToolCall): Omit<JobContext, 'once'> {
  return { caller, deps, waitMs: DEFAULT_WAIT_MS, signal }
}

/** Reserves a unit in the transaction of the metered work. */
type Admit = (tx: Knex.Transaction) => Promise<void>

/**
 * Runs metered work. A unit of the key's budget is reserved when `work` reports a new job. The audit records it even if
 * the client disconnects.
 * @throws BudgetExhaustedError after its owner was notified
 */
export async function spending<T>(call: ToolCall, family: SpentFamily, work: (admit: Admit) => Promise<T>): Promise<T> {
  const { caller, deps } = call
  const now = toSeconds(deps.now())
  let isNew = false
  try {
    const done = await work(async (tx) => {
      await spendBudget(tx, caller, family, now)
      isNew = true
    })
    call.units = isNew ? 1 : 0
    return done
  } catch (error) {
    if (isNew && call.signal.aborted) call.units = 1
    if (error instanceof BudgetExhaustedError) await announceExhausted(deps, caller, error.family, now)
    throw error
  }
}
