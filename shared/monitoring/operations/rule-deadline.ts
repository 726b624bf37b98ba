import type { Knex } from 'knex'
import type { NextOccurrence } from '../checks/check.ts'
import { hasRules } from '../checks/rule-bits.ts'
import { type CheckTimes, goingDownAt } from '../checks/status.ts'
import { ruleDeadline } from '../rules/rule-state.ts'
import { findFacts, storeFacts } from '../rules/rule-state-store.ts'

/** The caller must have locked the check. */
export async function deadlineOf(
  tx: Knex,
  check: CheckTimes & { id: number },
  next: NextOccurrence,
): Promise<number | null> {
  if (!hasRules(check)) return goingDownAt(check, next)
  const facts = (await findFacts(tx, [check.id])).get(check.id)
  return ruleDeadline(check, facts ?? { checkId: check.id, runs: null, sources: null }, next)
}

export async function abandonRuns(tx: Knex, check: { id: number; ruleBits?: number }): Promise<void> {
  if (!hasRules(check)) return
  const facts = (await findFacts(tx, [check.id])).get(check.id)
  if (!facts?.runs) return
  for (const run of facts.runs.open) {
    run.outcome = 'abandoned'
    facts.runs.changed.add(run)
  }
  await storeFacts(tx, [facts])
}
