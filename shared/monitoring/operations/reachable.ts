import type { Knex } from 'knex'
import { acrossTenants } from '../../platform/database/tenant.ts'
import { type Plan, policyView, type StepTarget, targetsOf } from '../alerting/policy.ts'
import { policiesWithSchedules, type StoredPolicy } from '../alerting/policy-store.ts'
import type { ContactKind } from '../contacts/contact-kinds.ts'
import { isUsable } from '../contacts/contact-method.ts'
import { type ContactRules, entriesFor, RULE_LISTS } from '../contacts/contact-rules.ts'
import { ensureAccountMethods, listContactRows } from '../contacts/contact-store.ts'
import { findContactRules } from '../contacts/rule-store.ts'
import { listResponders, type Responder } from '../on-call/schedule-store.ts'
import { planWarnings, type ScheduleUse, type Warning, warningView } from '../on-call/warnings.ts'
import type { Project } from '../projects/store.ts'
import { contactMethodOf } from './contact-config.ts'
import type { OperationDeps } from './deps.ts'
import type { LoadedFacts } from './record-shifts.ts'

export type ReachDeps = Pick<OperationDeps, 'config' | 'secrets'>

const NO_RULES: ContactRules = { critical: [], other: [] }

interface Reach {
  /** by at least one contact method about critical incidents */
  isReachable: boolean
  /** of the usable contact methods */
  kinds: ContactKind[]
  /** seconds until the last notification, of all severities */
  lastAfter: number
}

/** Returns how each person can be notified, without addresses. */
export async function loadReach(db: Knex, userIds: readonly number[], deps: ReachDeps): Promise<Map<number, Reach>> {
  if (userIds.length === 0) return new Map()
  await ensureAccountMethods(db, userIds)
  const [rows, rules] = await Promise.all([listContactRows(db, userIds), findContactRules(db, userIds)])
  const methods = Map.groupBy(
    rows.map((row) => contactMethodOf(row, deps.secrets)).filter((method) => isUsable(method, deps.config)),
    ({ userId }) => userId,
  )
  return new Map(
    userIds.map((userId) => {
      const usable = methods.get(userId) ?? []
      const [entries = [], other = []] = RULE_LISTS.map((list) =>
        entriesFor(rules.get(userId) ?? NO_RULES, list, usable),
      )
      const lastAfter = Math.max(0, ...[...entries, ...other].map(({ after }) => after))
      return [
        userId,
        { isReachable: entries.length > 0, kinds: [...new Set(usable.map(({ kind }) => kind))], lastAfter },
      ]
    }),
  )
}

type PeopleReach = Pick<ScheduleUse, 'unreachable' | 'lastAfter'>

async function loadPeopleReach(
  db: Knex,
  people: readonly (readonly [address: string, person: Pick<Responder, 'userId'>])[],
  deps: ReachDeps,
): Promise<PeopleReach> {
  const reach = await loadReach(db, [...new Set(people.map(([, { userId }]) => userId))], deps)
  const reachOf = people.map(([address, { userId }]) => [address, reach.get(userId)] as const)
  return {
    unreachable: new Set(reachOf.flatMap(([address, found]) => (found?.isReachable ? [] : [address]))),
    lastAfter: new Map(reachOf.map(([address, found]) => [address, found?.lastAfter ?? 0])),
  }
}

/** Loads what warnings need beside the facts of the schedules. Only policies of projects that the reader sees are named. */
export async function loadScheduleUse(
  db: Knex,
  facts: readonly Pick<LoadedFacts, 'people'>[],
  { organisationId, visible }: { organisationId: number; visible: readonly Pick<Project, 'id'>[] },
  deps: ReachDeps,
): Promise<(uuid: string) => ScheduleUse> {
  const responders = new Map(facts.flatMap(({ people }) => [...people]))
  const [reach, policies] = await Promise.all([
    loadPeopleReach(db, [...responders], deps),
    // A shared schedule may be named by policies of other projects.
    acrossTenants(() => policiesWithSchedules(db, organisationId)),
  ])
  const projectIds = new Set(visible.map(({ id }) => id))
  const shown = policies.filter(({ projectId }) => projectIds.has(projectId))
  return (uuid) => {
    const isNamed = (target: StepTarget) => 'schedule' in target && target.schedule === uuid
    const steps = shown.flatMap(({ name, plan }) =>
      plan.steps.flatMap(({ people }, index) => {
        const next = plan.steps[index + 1]
        return next && people.some(isNamed) ? [{ policy: name, step: index + 1, wait: next.wait }] : []
      }),
    )
    return { ...reach, steps, isUsed: policies.some(({ plan }) => targetsOf(plan).some(isNamed)) }
  }
}

interface NamedPlan {
  name: string
  plan: Plan
}

/** Loads what the warnings of these policies of an organisation need. */
export async function loadPolicyWarnings(
  db: Knex,
  policies: readonly NamedPlan[],
  organisationId: number,
  deps: ReachDeps,
): Promise<(policy: NamedPlan) => Warning[]> {
  const targets = policies.flatMap(({ plan }) => targetsOf(plan))
  const named = new Set(targets.flatMap((target) => ('person' in target ? [target.person] : [])))
  if (named.size === 0) return () => []
  const members = (await listResponders(db, [organisationId])).filter(({ email }) => named.has(email))
  const people = members.map((member) => [member.email, member] as const)
  const reach = await loadPeopleReach(db, people, deps)
  return (policy) => planWarnings(policy, new Set(people.map(([address]) => address)), reach)
}

/** Returns a function that shows each of these policies with its warnings, as the API does. */
export async function loadPolicyViews(
  db: Knex,
  policies: readonly StoredPolicy[],
  organisationId: number,
  deps: ReachDeps,
) {
  const warningsOf = await loadPolicyWarnings(db, policies, organisationId, deps)
  return (policy: StoredPolicy) => ({ ...policyView(policy), warnings: warningsOf(policy).map(warningView) })
}
