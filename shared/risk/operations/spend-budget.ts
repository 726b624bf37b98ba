import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { RateLimitedError } from '../../errors.ts'
import type { Outbox } from '../../platform/broker/outbox.ts'
import type { Budgets } from '../../tenancy/agents/agent-key.ts'
import type { Family } from '../../tenancy/oauth/families.ts'
import { microsOfSeconds, toIsoMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { noteExhausted, reserveUnit } from '../metering/budget-store.ts'

/** An agent key as far as its budgets go. */
export interface Spender {
  agentKeyId: number | null
  /** names the key in the event */
  keyId: string
  organisationId: number
  env: ApiEnv
  budgets: Budgets
}

/** The key may cost no more in this family today, or this month. */
export class BudgetExhaustedError extends RateLimitedError {
  readonly family: Family
  constructor(family: Family, retryAfterSeconds: number) {
    const message = `the budget of this key for ${family} is used up`
    super(message, retryAfterSeconds, [{ path: family, code: 'BUDGET', message }])
    this.family = family
  }
}

const DAY_SECONDS = 86_400

/**
 * Reserves what a metered call costs, in the transaction of its effect (docs/spec/evidence-families.md#agent-keys). Keys without a budget for the
 * family, and clients with tokens, are not limited.
 * @param now POSIX seconds
 * @throws BudgetExhaustedError
 */
export async function spendBudget(tx: Knex, spender: Spender, family: Family, now: number): Promise<void> {
  const { agentKeyId, budgets } = spender
  const budget = budgets[family]
  if (agentKeyId === null || !budget) return
  if (await reserveUnit(tx, { agentKeyId, family }, budget)) return
  throw new BudgetExhaustedError(family, Math.ceil(DAY_SECONDS - (now % DAY_SECONDS)))
}

/** Emits `agents.budget_exhausted`, once a key, family and UTC day, after the refused call was rolled back. */
export async function announceExhausted(
  { outbox }: { outbox: Pick<Outbox, 'run'> },
  { agentKeyId, keyId, organisationId, env }: Spender,
  family: Family,
  now: number,
): Promise<void> {
  if (agentKeyId === null) return
  await outbox.run(async (tx, enqueue) => {
    if (!(await noteExhausted(tx, { agentKeyId, family }))) return
    await recordEvent(tx, enqueue, {
      env,
      organisationId,
      type: 'agents.budget_exhausted',
      dealId: keyId,
      fields: ['family', 'budget'],
      occurredAt: toIsoMillis(microsOfSeconds(now)),
    })
  })
}
