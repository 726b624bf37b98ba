import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { groupOpenings } from '#shared/monitoring/alerting/bundle-store.ts'
import {
  type AlertedCheck,
  alertedChecks,
  alertedIntegrations,
  assignmentsOf,
  digestsOf,
  finishesOf,
  flipTimes,
  lockNotifications,
} from '#shared/monitoring/alerting/fact-store.ts'
import type { WaitingFlip } from '#shared/monitoring/alerting/flip-store.ts'
import type { FactIntegration, Facts, Incident } from '#shared/monitoring/alerting/incident.ts'
import { newestIncidents } from '#shared/monitoring/alerting/incident-store.ts'
import { lockPendingNotifications } from '#shared/monitoring/alerting/pending-notification-store.ts'
import { IMPLICIT_PLAN, policyFor } from '#shared/monitoring/alerting/policy.ts'
import { alertRulesOf, policiesOf, type StoredPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { microsOfSeconds, nowMicros } from '#shared/time.ts'
import { type LoadReserve, loadParents, loadSuppressions, type ReadIntegration } from './load-inputs.ts'

export interface Work {
  checkId: number
  flip: WaitingFlip | null
  incident: Incident | null
}

export interface Case extends Work {
  facts: Facts
}

/** Uses one statement per kind of row. Omits deleted checks. */
export async function loadFacts(
  tx: Knex,
  work: readonly Work[],
  reading: { readIntegration: ReadIntegration; loadReserve: LoadReserve },
): Promise<Case[]> {
  const checkIds = work.map(({ checkId }) => checkId)
  const due = work.flatMap(({ checkId, flip }) => (flip ? [] : [checkId]))
  const checks = new Map((await alertedChecks(tx, checkIds, due)).map((check) => [check.id, check]))
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
    // A flip of a check is processed before its due incident.
    return check && (one.flip || !check.hasFlip) ? [{ ...one, check, policy: policyOf(check) }] : []
  })

  const checksWith = (matches: (policy: StoredPolicy) => boolean) =>
    found.filter(({ policy }) => policy && matches(policy)).map(({ checkId }) => checkId)
  const counting = checksWith(({ plan }) => plan.when.failures > 1 || plan.when.successes > 1)
  const watching = checksWith(({ plan }) => plan.flapping !== null)
  const opening = work.filter(({ incident, flip }) => !incident && flip?.to === 'down').map(({ checkId }) => checkId)
  const suppressionsOf = await loadSuppressions(tx, found, nowMicros())
  // Needed also after direct notifications, because a window or parent since then makes the implicit policy apply.
  const notified = found.flatMap(({ incident, policy, check }) => {
    const isImplicit = rules.get(check.id)?.hasParents || suppressionsOf(check.id).isInWindow
    return incident && (policy || isImplicit || !incident.isDirect) ? [incident.id] : []
  })
  const previous = new Map((await newestIncidents(tx, opening)).map(({ checkId, id }) => [checkId, id]))
  const finishes = Map.groupBy(await finishesOf(tx, counting), ({ checkId }) => checkId)
  const flips = Map.groupBy(await flipTimes(tx, watching, oldestWatched(found)), ({ checkId }) => checkId)
  // Pending notifications are locked first, because they may become notifications. Recoveries of a digest do not depend on
  // the current policy.
  const notifications = Map.groupBy(
    [
      ...(await lockPendingNotifications(tx, notified)),
      ...(await lockNotifications(tx, notified)),
      ...(await digestsOf(tx, notified)),
    ],
    ({ incidentId }) => incidentId,
  )
  const grouping = found.flatMap(({ policy }) => (policy?.plan.group.within ? [policy] : []))
  const openings = await groupOpenings(tx, [
    ...new Map(grouping.map(({ id, plan }) => [id, { id, within: plan.group.within }])).values(),
  ])
  const children = found.filter(({ check }) => rules.get(check.id)?.hasParents).map(({ check }) => check)
  const suppressionOfRow = await loadParents(tx, children, nowMicros())
  const integrationsOf = await loadIntegrations(tx, found, notifications, reading)

  return found.map(({ check, policy, ...one }) => {
    const { gates, isInWindow } = suppressionsOf(check.id)
    const parent = suppressionOfRow(check, one.incident, one.incident?.downAt ?? one.flip?.at ?? nowMicros())
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
        finishes: finishes.get(check.id) ?? [],
        integrations: integrationsOf(check, policy, one.incident),
        notifications: notifications.get(one.incident?.id ?? '') ?? [],
        gates: parent.gate ? [...gates, parent.gate] : gates,
        isInCycle: parent.isInCycle,
        groupOpensAt: openings.get(policy?.id ?? 0) ?? null,
        newId: randomUUID(),
        previous: previous.get(check.id) ?? null,
      },
    }
  })
}

const IMPLICIT_POLICY = { id: null, version: 0, plan: IMPLICIT_PLAN }

/** True also if its policy was deleted early, which would otherwise suppress the incident forever. */
function isImplicit(incident: Incident | null): boolean {
  return incident !== null && !incident.isDirect && (incident.policyId === null || incident.alertAt === null)
}

type Found = Work & { check: AlertedCheck; policy: StoredPolicy | null }

function oldestWatched(found: readonly Found[]): number {
  const longest = Math.max(0, ...found.map(({ policy }) => policy?.plan.flapping?.within ?? 0))
  const earliest = Math.min(nowMicros(), ...found.flatMap(({ flip }) => (flip ? [flip.at] : [])))
  return earliest - microsOfSeconds(longest)
}

/** Loads integrations of the check, of its policy, and those that were notified before. */
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
  const before = [...notifications.values()].flat().map(({ integrationId }) => integrationId)
  const assigned = [...assignments.values()].flat().map(({ integrationId }) => integrationId)
  const named = found.flatMap(
    ({ policy }) => policy?.plan.steps.flatMap(({ channels: integrations }) => integrations ?? []) ?? [],
  )
  const loaded = await alertedIntegrations(tx, [...new Set([...assigned, ...before])], [...new Set(named)])
  const isOverReserve = await loadReserve(tx, loaded)
  const known = loaded.map((integration) => ({
    projectId: integration.projectId,
    ...readIntegration(integration),
    isOverReserve: isOverReserve(integration),
  }))
  const byId = new Map(known.map((integration) => [integration.id, integration]))
  const order = new Map(known.map(({ id }, index) => [id, index]))

  return (check: AlertedCheck, policy: StoredPolicy | null, incident: Incident | null): FactIntegration[] => {
    const assignedIds = new Set((assignments.get(check.id) ?? []).map(({ integrationId }) => integrationId))
    const ids = new Set([
      ...assignedIds,
      ...(notifications.get(incident?.id ?? '') ?? []).map(({ integrationId }) => integrationId),
    ])
    if (policy) {
      const uuids = new Set(policy.plan.steps.flatMap(({ channels: integrations }) => integrations ?? []))
      for (const integration of uuids.size > 0 ? known : []) if (uuids.has(integration.uuid)) ids.add(integration.id)
    }
    return [...ids]
      .sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
      .flatMap((id) => byId.get(id) ?? [])
      .filter(({ projectId }) => projectId === check.projectId)
      .map((integration) => ({ ...integration, isOwn: assignedIds.has(integration.id) }))
  }
}
