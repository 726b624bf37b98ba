import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import type { RuleFields } from '../alerting/read-policy.ts'
import { RULE_BITS } from '../checks/rule-bits.ts'
import type { AssignedCheck } from '../checks/store.ts'
import { expectSources, forgetOpenRuns, saveRuling } from '../rules/rule-state-store.ts'
import { nextOccurrence } from '../schedules/schedule.ts'
import { deadlineOf } from './rule-deadline.ts'

/** What the rules say of the truth of a check takes effect at once, under the lock of the check. */
export async function applyRuling(
  tx: Knex,
  check: AssignedCheck,
  before: RuleFields,
  rules: RuleFields,
): Promise<void> {
  if (before.run && !rules.run) await forgetOpenRuns(tx, check.id)
  if (rules.sources && !isDeepStrictEqual(before.sources, rules.sources)) {
    const { expect } = rules.sources
    await expectSources(tx, check.id, typeof expect === 'number' ? null : expect)
  }
  const ruleBits =
    (rules.run ? RULE_BITS.runs : 0) |
    (rules.sources ? RULE_BITS.sources : 0) |
    (rules.previews ? RULE_BITS.previews : 0) |
    (rules.ping_auth ? RULE_BITS.pingAuth : 0)
  // A check that is plain and was plain keeps its deadline.
  if (ruleBits === 0 && (check.ruleBits ?? 0) === 0) return
  const alertAfter = await deadlineOf(tx, { ...check, ruleBits }, nextOccurrence)
  await saveRuling(tx, check.id, { ruleBits, alertAfter })
}
