import type { Knex } from 'knex'
import { NotFoundError, ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { isUuid } from '../../uuid.ts'
import { invalid } from '../alerting/fields.ts'
import { alertingChanged, findPolicy, findRules, saveRules } from '../alerting/policy-store.ts'
import { type RuleFields, readRules } from '../alerting/read-policy.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { nodesOf } from '../dependencies/parent-store.ts'
import { cycleOf, graphOf } from '../dependencies/parents.ts'
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
    await refuseParents(tx, project.id, uuid, rules)
    await saveRules(tx, id, { ...rules, policyId: policy?.id ?? null })
    await alertingChanged(tx, project.id)
    await auditCheck(tx, actor, project, 'check.changed', check)
    return rules
  })
}

/** @throws ValidationError for checks that the project does not have, and for a ring as tags are now */
async function refuseParents(tx: Knex, projectId: number, uuid: string, rules: RuleFields): Promise<void> {
  if (rules.parents.length === 0) return
  const nodes = await nodesOf(tx, [projectId], 0)
  const unknown = rules.parents
    .flatMap((parent) => ('check' in parent ? [parent.check] : []))
    .find((check) => !nodes.some((node) => node.uuid === check))
  if (unknown !== undefined) throw new ValidationError(`invalid check identifier: ${unknown}`)
  const changed = nodes.map((node) => (node.uuid === uuid ? { ...node, parents: rules.parents } : node))
  const graph = graphOf(changed)
  const start = graph.node(uuid)
  const ring = start ? cycleOf(start, graph) : null
  if (!ring) return
  throw invalid('parents', `make a cycle: ${ring.map((node) => node.name || node.uuid).join(' > ')}`)
}
