import type { Knex } from 'knex'
import { execute } from '../../platform/database/sql.ts'
import type { Budget } from '../../tenancy/agents/agent-key.ts'
import type { Family } from '../../tenancy/oauth/families.ts'

export interface BudgetOwner {
  agentKeyId: number
  family: Family
}

/** In the transaction of the effect; the row serialises callers. False when day or month (UTC) are used up. */
export async function reserveUnit(tx: Knex, { agentKeyId, family }: BudgetOwner, budget: Budget): Promise<boolean> {
  const { perDay, perMonth } = budget
  const spentBefore = `(
    SELECT coalesce(sum(units), 0) FROM agent_budget_days
    WHERE agent_key_id = ? AND family = ? AND on_date >= date_trunc('month', now() AT TIME ZONE 'UTC')::date
      AND on_date < (now() AT TIME ZONE 'UTC')::date)`
  const reserved = await execute(
    tx,
    `INSERT INTO agent_budget_days AS days (agent_key_id, family, on_date, units)
     SELECT ?::bigint, ?, (now() AT TIME ZONE 'UTC')::date, 1
     WHERE coalesce(?::int, 1) > 0 AND (?::int IS NULL OR ${spentBefore} < ?::int)
     ON CONFLICT (agent_key_id, family, on_date) DO UPDATE SET units = days.units + 1
       WHERE (?::int IS NULL OR days.units < ?::int)
         AND (?::int IS NULL OR days.units + ${spentBefore} < ?::int)`,
    [
      ...[agentKeyId, family, perDay, perMonth, agentKeyId, family, perMonth],
      ...[perDay, perDay, perMonth, agentKeyId, family, perMonth],
    ],
  )
  return reserved > 0
}

/** Returns true for the first time of the day, when the owner must be notified. */
export async function noteExhausted(tx: Knex, { agentKeyId, family }: BudgetOwner): Promise<boolean> {
  const noted = await execute(
    tx,
    `INSERT INTO agent_budget_days AS days (agent_key_id, family, on_date, exhausted_at)
     VALUES (?, ?, (now() AT TIME ZONE 'UTC')::date, now())
     ON CONFLICT (agent_key_id, family, on_date) DO UPDATE SET exhausted_at = now() WHERE days.exhausted_at IS NULL`,
    [agentKeyId, family],
  )
  return noted > 0
}
