import type { Knex } from 'knex'
import { z } from 'zod'
import { announceExhausted, BudgetExhaustedError, spendBudget } from '#shared/risk/operations/spend-budget.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import type { Family } from '#shared/tenancy/oauth/families.ts'
import { toSeconds } from '#shared/time.ts'
import type { AskContext } from '../risk/evidence-job.ts'
import { onceFor } from './once.ts'
import type { ToolCall } from './tool.ts'
import { markCallers } from './untrusted.ts'

/** What the API answers: ids, codes, dates, tiers and hashes; text of others only where a tool marks it. */
export const EvidenceSchema = z.looseObject({})

interface Question {
  /** of the POST that asks the same */
  route: string
  family: Family
  idempotencyKey: string
  args: Record<string, unknown>
}

/**
 * Asks as the POST at `route` with the same key and body would, and waits for ten seconds; a new question costs a unit
 * of the key's budget.
 */
export async function askEvidence(
  call: ToolCall,
  { route, family, idempotencyKey, args }: Question,
  work: (context: AskContext, admit: (tx: Knex.Transaction) => Promise<void>) => Promise<StoredAnswer>,
): Promise<z.infer<typeof EvidenceSchema>> {
  const { caller, deps } = call
  const now = toSeconds(deps.now())
  const once = onceFor(caller, route, idempotencyKey, args)
  const context: AskContext = { caller, deps, request: { headers: {} }, setHeader: () => {}, once, signal: call.signal }
  let isNew = false
  try {
    const answer = await work(context, async (tx) => {
      await spendBudget(tx, caller, family, now)
      isNew = true
    })
    if (isNew) call.units = 1
    return markCallers(JSON.parse(answer.body))
  } catch (error) {
    if (error instanceof BudgetExhaustedError) await announceExhausted(deps, caller, error.family, now)
    throw error
  }
}
