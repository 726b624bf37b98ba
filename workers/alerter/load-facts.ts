import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { groupDelayEndsOf } from '#shared/monitoring/alerting/bundle-store.ts'
import {
  type AlertedCheck,
  alertedChecks,
  alertedIntegrations,
  assignmentsOf,
  digestsOf,
  flipTimes,
  lockNotifications,
  recentResultsOf,
} from '#shared/monitoring/alerting/fact-store.ts'
import type { WaitingFlip } from '#shared/monitoring/alerting/flip-store.ts'
import type { FactIntegration, Facts, Incident } from '#shared/monitoring/alerting/incident.ts'
import { newestIncidents } from '#shared/monitoring/alerting/incident-store.ts'
import { mergedSuppressions } from '#shared/monitoring/alerting/merge-store.ts'
import { lockPendingNotifications } from '#shared/monitoring/alerting/pending-notification-store.ts'
import { channelsOf, IMPLICIT_PLAN, policyFor } from '#shared/monitoring/alerting/policy.ts'
import { alertRulesOf, policiesOf, type StoredPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { microsOfSeconds, nowMicros } from '#shared/time.ts'
import { type LoadReserve, loadParents, loadSuppressions, type ReadIntegration } from './load-inputs.ts'
import { loadPeople, type PeopleDeps } from './load-people.ts'

/** A claimed flip or due incident. */
export interface Work {
  checkId: number
  /** null if the incident is due without a flip */
  flip: WaitingFlip | null
  /** the open incident of the check, if it has one */
  incident: Incident | null
}

export interface Case extends Work {
  facts: Facts & { check: AlertedCheck }
}

/**
 * Loads everything that `decide` needs, with one statement per kind of row for all checks together. Omits deleted checks
 * and due incidents of checks that also have an unprocessed flip.
 */
export async function loadFacts(
  tx: Knex,
  work: readonly Work[],
  reading: { readIntegration: ReadIntegration; loadReserve: LoadReserve; people: PeopleDeps },
): Promise<Case[]> {
  const checkIds = work.map(({ checkId }) => checkId)
  const dueWithoutFlip = work.flatMap(({ checkId, flip }) => (flip ? [] : [checkId]))
  const checks = new Map((await alertedChecks(tx, checkIds, dueWithoutFlip)).map((check) => [check.id, check]))
  const projectIds = [...new Set([...checks.values()].map(({ projectId }) => projectId))]
  const policies = Map.groupBy(await policiesOf(tx, projectIds), ({ projectId }) => projectId)
  const rules = new Map((await alertRulesOf(tx, checkIds)).map((rule) => [rule.checkId, rule]))
  const policyOf = (check: AlertedCheck): StoredPolicy | null => {
    const ofProject = policies.get(check.projectId) ?? []
    const policy = policyFor({ tags: check.tags, policyId: rules.get(check.id)?.policyId ?? null }, ofProject)
    return ofProject.find(({ id }) => id === policy?.id) ?? null
  }
  const found = work.flatMap((one) => {
    const check = checks.get(one.checkId)
    // A due incident waits while its check has an unprocessed flip.
    return check && (one.flip || !check.hasFlip) ? [{ ...one, check, policy: policyOf(check) }] : []
  })

  const checksWith = (matches: (policy: StoredPolicy) => boolean) =>
    found.filter(({ policy }) => policy && matches(policy)).map(({ checkId }) => checkId)
  const withCounts = checksWith(({ plan }) => plan.when.failures > 1 || plan.when.successes > 1)
  const withFlapping = checksWith(({ plan }) => plan.flapping !== null)
  const newlyDown = work.filter(({ incident, flip }) => !incident && flip?.to === 'down').map(({ checkId }) => checkId)
  const suppressionsOf = await loadSuppressions(tx, found, nowMicros())
  const merged = await mergedSuppressions(
    tx,
    found.flatMap(({ incident }) => (incident?.leadId ? [incident.id] : [])),
  )
  // An incident with direct notifications needs them too, if a policy, a parent or a maintenance window applies by now.
  const incidentIds = found.flatMap(({ incident, policy, check }) => {
    const hasImplicitPolicy = rules.get(check.id)?.hasParents || suppressionsOf(check.id).isInWindow
    return incident && (policy || hasImplicitPolicy || isImplicit(incident) || !incident.isDirect) ? [incident.id] : []
  })
  const previous = new Map((await newestIncidents(tx, newlyDown)).map(({ checkId, id }) => [checkId, id]))
  const recentResults = Map.groupBy(await recentResultsOf(tx, withCounts), ({ checkId }) => checkId)
  const flips = Map.groupBy(await flipTimes(tx, withFlapping, flappingSince(found)), ({ checkId }) => checkId)
  // Pending notifications are locked first, because they may become notifications. Digests are loaded even if the policy
  // no longer groups, because the recovery of an outage is sent like the outage.
  const pending = await lockPendingNotifications(tx, incidentIds)
  const rows = await lockNotifications(tx, incidentIds)
  const notifications = Map.groupBy(
    [
      ...pending,
      ...rows.flatMap(({ integrationId, ...row }) => (integrationId === null ? [] : [{ ...row, integrationId }])),
      ...(await digestsOf(tx, incidentIds)),
    ],
    ({ incidentId }) => incidentId,
  )
  const rowsOf = Map.groupBy(rows, ({ incidentId }) => incidentId)
  const groupingPolicies = found.flatMap(({ policy }) => (policy?.plan.group.within ? [policy] : []))
  const groupDelayEnds = await groupDelayEndsOf(tx, [
    ...new Map(groupingPolicies.map(({ id, plan }) => [id, { id, within: plan.group.within }])).values(),
  ])
  const peopleOf = await loadPeople(
    tx,
    reading.people,
    found.map(({ check, policy, incident }) => ({ projectId: check.projectId, plan: policy?.plan ?? null, incident })),
    nowMicros(),
  )
  const children = found.filter(({ check }) => rules.get(check.id)?.hasParents).map(({ check }) => check)
  const parentSuppressionOf = await loadParents(tx, children, nowMicros())
  const integrationsOf = await loadIntegrations(tx, found, notifications, reading)

  return found.map(({ check, policy, ...one }) => {
    const { suppressions, isInWindow } = suppressionsOf(check.id)
    const parent = parentSuppressionOf(check, one.incident, one.incident?.downAt ?? one.flip?.at ?? nowMicros())
    return {
      ...one,
      facts: {
        check,
        flip: one.flip,
        recentFlips: (flips.get(check.id) ?? []).map(({ at }) => at),
        policy:
          policy ??
          (rules.get(check.id)?.hasParents || isInWindow || isImplicit(one.incident) ? IMPLICIT_POLICY : null),
        severity: rules.get(check.id)?.severity ?? 'critical',
        recentResults: recentResults.get(check.id) ?? [],
        integrations: integrationsOf(check, policy, one.incident),
        notifications: notifications.get(one.incident?.id ?? '') ?? [],
        suppressions: [...suppressions, ...[parent.suppression, merged.get(one.incident?.id ?? '')].filter(isPresent)],
        people: peopleOf(
          { projectId: check.projectId, plan: policy?.plan ?? null, incident: one.incident },
          rowsOf.get(one.incident?.id ?? '') ?? [],
        ),
        isInCycle: parent.isInCycle,
        groupDelayEndsAt: groupDelayEnds.get(policy?.id ?? 0) ?? null,
        newId: randomUUID(),
        previous: previous.get(check.id) ?? null,
      },
    }
  })
}

const isPresent = <T>(value: T | null | undefined): value is T => value != null

const IMPLICIT_POLICY = { id: null, version: 0, plan: IMPLICIT_PLAN }

/**
 * Returns true if the implicit policy applies when no other does. It also applies if the policy was deleted before its
 * conditions were met, because such an incident would stay suppressed forever. So it does if a person must be notified
 * because the incident was assigned to them.
 */
function isImplicit(incident: Incident | null): boolean {
  if (incident === null) return false
  if (incident.sequences?.reassigned != null || incident.sequences?.resumesAt != null) return true
  return !incident.isDirect && (incident.policyId === null || incident.alertAt === null)
}

type Found = Work & { check: AlertedCheck; policy: StoredPolicy | null }

/** Returns the earliest instant from which a flapping rule counts flips. */
function flappingSince(found: readonly Found[]): number {
  const longestPeriod = Math.max(0, ...found.map(({ policy }) => policy?.plan.flapping?.within ?? 0))
  const earliest = Math.min(nowMicros(), ...found.flatMap(({ flip }) => (flip ? [flip.at] : [])))
  return earliest - microsOfSeconds(longestPeriod)
}

/**
 * Loads the integrations of all checks, of their policies, and those that were notified before.
 * @returns a function that selects the integrations of one check, fastest first
 */
async function loadIntegrations(
  tx: Knex,
  found: readonly Found[],
  notifications: ReadonlyMap<string, readonly { integrationId: number }[]>,
  { readIntegration, loadReserve }: { readIntegration: ReadIntegration; loadReserve: LoadReserve },
) {
  const assignments = Map.groupBy(
    await assignmentsOf(
      tx,
      found.map(({ checkId }) => checkId),
    ),
    ({ checkId }) => checkId,
  )
  const notified = [...notifications.values()].flat().map(({ integrationId }) => integrationId)
  const assigned = [...assignments.values()].flat().map(({ integrationId }) => integrationId)
  const uuidsOfPlans = found.flatMap(({ policy }) => (policy ? channelsOf(policy.plan) : []))
  const loaded = await alertedIntegrations(tx, [...new Set([...assigned, ...notified])], [...new Set(uuidsOfPlans)])
  const isOverReserve = await loadReserve(tx, loaded)
  const integrations = loaded.map((integration) => ({
    projectId: integration.projectId,
    ...readIntegration(integration),
    isOverReserve: isOverReserve(integration),
  }))
  const byId = new Map(integrations.map((integration) => [integration.id, integration]))
  const order = new Map(integrations.map(({ id }, index) => [id, index]))

  return (check: AlertedCheck, policy: StoredPolicy | null, incident: Incident | null): FactIntegration[] => {
    const assignedIds = new Set((assignments.get(check.id) ?? []).map(({ integrationId }) => integrationId))
    const ids = new Set([
      ...assignedIds,
      ...(notifications.get(incident?.id ?? '') ?? []).map(({ integrationId }) => integrationId),
    ])
    if (policy) {
      const uuids = new Set(channelsOf(policy.plan))
      for (const { id, uuid } of uuids.size > 0 ? integrations : []) if (uuids.has(uuid)) ids.add(id)
    }
    return [...ids]
      .sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
      .flatMap((id) => byId.get(id) ?? [])
      .filter(({ projectId }) => projectId === check.projectId)
      .map((integration) => ({ ...integration, isOwn: assignedIds.has(integration.id) }))
  }
}
