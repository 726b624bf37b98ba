import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { isUuid } from '../../uuid.ts'
import { alertingChanged, findPolicy, findRules, saveRules } from '../alerting/policy-store.ts'
import { type RuleFields, readRules } from '../alerting/read-policy.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { auditCheck, type OwnCheck, requireLocked } from './check-changes.ts'

/**
 * Changes what a request names of the rules of a check; null resets to the default.
 * @throws ValidationError with the first thing that is wrong, NotFoundError for a policy that the project does not have
 */
export async function changeRules(
  db: Knex,
  actor: Actor,
  { project, id, uuid, body }: OwnCheck & { body: JsonObject },
): Promise<RuleFields> {
  return await transaction(db, async (tx) => {
    const check = await requireLocked(tx, project.id, uuid)
    const rules = readRules(body, await findRules(tx, id))
    const policy = rules.policy !== null && isUuid(rules.policy) ? await findPolicy(tx, project.id, rules.policy) : null
    if (rules.policy !== null && !policy) throw new NotFoundError('')
    await saveRules(tx, id, { policyId: policy?.id ?? null, severity: rules.severity })
    await alertingChanged(tx, project.id)
    await auditCheck(tx, actor, project, 'check.changed', check)
    return rules
  })
}
