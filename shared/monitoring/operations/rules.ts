import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import { NotFoundError, ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { isUuid } from '../../uuid.ts'
import { invalid, readObject } from '../alerting/fields.ts'
import { alertingChanged, findPolicy, findRules, saveRules } from '../alerting/policy-store.ts'
import { NO_RULES, type RuleFields, readRules } from '../alerting/read-policy.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { RULE_BITS } from '../checks/rule-bits.ts'
import { type AssignedCheck, findCheck } from '../checks/store.ts'
import { nodesOf } from '../rules/parent-store.ts'
import { cycleOf, graphOf, type Node } from '../rules/parents.ts'
import type { Quorum } from '../rules/quorum.ts'
import { deleteSource, expectSources, findFacts, forgetOpenRuns, saveRuling } from '../rules/rule-state-store.ts'
import { nextOccurrence } from '../schedules/schedule.ts'
import { auditCheck, type CheckOfProject, requireLocked } from './check-changes.ts'
import type { OperationDeps } from './deps.ts'
import { storePingSecret } from './keys.ts'
import { deadlineOf } from './rule-deadline.ts'

/** `ping_auth` creates a new secret. @throws ValidationError, NotFoundError for a policy of another project */
export async function changeRules(
  db: Knex,
  actor: Actor,
  { project, uuid, body }: CheckOfProject & { body: JsonObject },
  deps: Pick<OperationDeps, 'secrets' | 'announce'>,
): Promise<ChangedRules> {
  const changed = await transaction(db, async (tx) => {
    const check = await requireLocked(tx, project.id, uuid)
    const stored = await storeRules(tx, check, { body, path: '' }, deps)
    await auditCheck(tx, actor, project, 'check.changed', check, ': rules')
    return stored
  })
  deps.announce({ kind: 'check', uuid, projectId: project.id })
  return changed
}

/** The new ping secret can be read only here. */
export interface ChangedRules {
  rules: RuleFields
  secret: string | null
}

/** The whole body, or the member `rules` of a check. */
export type RulesPath = '' | 'rules.'

/** Null without `rules` (docs/spec/alerting.md#ground-rules). @throws ValidationError */
export function rulesOf(body: JsonObject): JsonObject | null {
  if (body.rules === undefined) return null
  if (body.rules === null) throw invalid('rules', 'must be an object')
  const rules = readObject(body.rules, 'rules')
  readRules(rules, NO_RULES, 'rules.')
  return rules
}

/** The caller has locked the check. @throws ValidationError, NotFoundError for a policy of another project */
async function storeRules(
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

/** The caller has locked the check. @throws NotFoundError for a policy of another project */
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

export async function withRules(
  tx: Knex,
  check: AssignedCheck,
  rules: JsonObject | null,
  deps: Pick<OperationDeps, 'secrets'>,
): Promise<{ check: AssignedCheck; changedRules: ChangedRules | null }> {
  if (!rules) return { check, changedRules: null }
  const changedRules = await storeRules(tx, check, { body: rules, path: 'rules.' }, deps)
  return { check: (await findCheck(tx, check.uuid)) ?? check, changedRules }
}

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

/** `nodes` are the checks after the change. @throws ValidationError for unknown parents and for cycles */
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
    if (ring)
      throw invalid(
        `${path}parents`,
        `must not make a cycle: ${ring.map(({ name, uuid }) => name || uuid).join(' > ')}`,
      )
  }
}

/** Applies at once: open runs, expected sources and the deadline. */
async function applyRuling(tx: Knex, check: AssignedCheck, before: RuleFields, rules: RuleFields): Promise<void> {
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
  // A check without such rules before and after keeps its deadline.
  if (ruleBits === 0 && (check.ruleBits ?? 0) === 0 && before.early === rules.early) return
  const alertAfter = await deadlineOf(tx, { ...check, ruleBits, earlySeconds: rules.early }, nextOccurrence)
  await saveRuling(tx, check.id, { ruleBits, alertAfter })
}

/** @throws NotFoundError if it is not known */
export async function removeSource(
  db: Knex,
  actor: Actor,
  { project, id, uuid, name }: CheckOfProject & { name: string },
): Promise<{ check: AssignedCheck; quorum: Quorum }> {
  return await transaction(db, async (tx) => {
    const check = await requireLocked(tx, project.id, uuid)
    if (!(await deleteSource(tx, id, name))) throw new NotFoundError('')
    const quorum = (await findFacts(tx, [id])).get(id)?.sources
    if (!quorum) throw new NotFoundError('')
    const alertAfter = await deadlineOf(tx, check, nextOccurrence)
    await saveRuling(tx, id, { ruleBits: check.ruleBits ?? 0, alertAfter })
    await auditCheck(tx, actor, project, 'check.changed', check, `: source ${name} removed`)
    return { check, quorum }
  })
}
