import type { Knex } from 'knex'
import { NotFoundError, ValidationError } from '../../errors.ts'
import { isUuid } from '../../uuid.ts'
import { invalid, readObject } from '../alerting/fields.ts'
import { alertingChanged, findPolicy, findRules, saveRules } from '../alerting/policy-store.ts'
import { NO_RULES, type RuleFields, readRules } from '../alerting/read-policy.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { type AssignedCheck, findCheck } from '../checks/store.ts'
import { nodesOf } from '../rules/parent-store.ts'
import { cycleOf, graphOf, type Node } from '../rules/parents.ts'
import { applyRuling } from './apply-ruling.ts'
import type { OperationDeps } from './deps.ts'
import { storePingSecret } from './save-ping-secret.ts'

/** The rules of a check after a change; `secret` is the new ping secret, shown this once, or null. */
export interface ChangedRules {
  rules: RuleFields
  secret: string | null
}

/** Where a request says the rules: as the whole body, or as the member `rules` of a check. */
export type RulesPath = '' | 'rules.'

/**
 * The member `rules` of a request to create or change a check (docs/spec/alerting.md#ground-rules), looked at after all others.
 * @returns null when the request has none
 * @throws ValidationError with the first thing that is wrong in it
 */
export function rulesOf(body: JsonObject): JsonObject | null {
  if (body.rules === undefined) return null
  if (body.rules === null) throw invalid('rules', 'is not an object')
  const rules = readObject(body.rules, 'rules')
  readRules(rules, NO_RULES, 'rules.')
  return rules
}

/**
 * Stores what a request names of the rules of a check that the caller holds; null resets to the default. Naming
 * `ping_auth` makes a new secret.
 * @throws ValidationError with the first thing that is wrong, NotFoundError for a policy that the project does not have
 */
export async function storeRules(
  tx: Knex,
  check: AssignedCheck,
  { body, path }: { body: JsonObject; path: RulesPath },
  deps: Pick<OperationDeps, 'secrets'>,
): Promise<ChangedRules> {
  const before = await findRules(tx, check.id)
  const rules = readRules(body, before, path)
  await refuseParents(tx, check, rules, path)
  await storeRuleFields(tx, check, before, rules)
  const secret = await storePingSecret(tx, check.id, body.ping_auth, deps)
  await alertingChanged(tx, check.projectId)
  return { rules, secret }
}

/**
 * Stores rules that were found valid, of a check that the caller holds.
 * @throws NotFoundError for a policy that the project does not have
 */
export async function storeRuleFields(
  tx: Knex,
  check: AssignedCheck,
  before: RuleFields,
  rules: RuleFields,
): Promise<void> {
  const policyId = await policyIdOf(tx, check.projectId, rules)
  await saveRules(tx, check.id, { ...rules, policyId })
  await applyRuling(tx, check, before, rules)
}

/** As storeRules, for a request that may name no rules. @returns the check as it is then */
export async function withRules(
  tx: Knex,
  check: AssignedCheck,
  rules: JsonObject | null,
  deps: Pick<OperationDeps, 'secrets'>,
): Promise<{ check: AssignedCheck; changedRules: ChangedRules | null }> {
  if (!rules) return { check, changedRules: null }
  const changedRules = await storeRules(tx, check, { body: rules, path: 'rules.' }, deps)
  // Its rules may decide when it goes down.
  return { check: (await findCheck(tx, check.uuid)) ?? check, changedRules }
}

/** @throws NotFoundError for a policy that the project does not have */
async function policyIdOf(tx: Knex, projectId: number, { policy }: RuleFields): Promise<number | null> {
  if (policy === null) return null
  const found = isUuid(policy) ? await findPolicy(tx, projectId, policy) : null
  if (!found) throw new NotFoundError('')
  return found.id
}

async function refuseParents(
  tx: Knex,
  { projectId, uuid }: AssignedCheck,
  { parents }: RuleFields,
  path: RulesPath,
): Promise<void> {
  if (parents.length === 0) return
  const nodes = await nodesOf(tx, [projectId], 0)
  refuseRings(
    nodes.map((node) => (node.uuid === uuid ? { ...node, parents } : node)),
    [uuid],
    path,
  )
}

/**
 * @param nodes the checks of a project as they would be
 * @param changed those whose parents somebody names
 * @throws ValidationError for checks that the project does not have, and for a ring as tags are now
 */
export function refuseRings(nodes: readonly Node[], changed: readonly string[], path: RulesPath): void {
  const graph = graphOf(nodes)
  for (const uuid of changed) {
    const start = graph.node(uuid)
    if (!start) continue
    const unknown = start.parents
      .flatMap((parent) => ('check' in parent ? [parent.check] : []))
      .find((check) => !graph.node(check))
    if (unknown !== undefined) throw new ValidationError(`invalid check identifier: ${unknown}`)
    const ring = cycleOf(start, graph)
    if (ring) throw invalid(`${path}parents`, `make a cycle: ${ring.map(({ name, uuid }) => name || uuid).join(' > ')}`)
  }
}
