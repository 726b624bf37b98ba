import type { Knex } from 'knex'
import { decide } from '#shared/monitoring/alerting/decide.ts'
import { insertDecisions } from '#shared/monitoring/alerting/decision-store.ts'
import { claimFlips, markProcessed } from '#shared/monitoring/alerting/flip-store.ts'
import type { Decided, Facts } from '#shared/monitoring/alerting/incident.ts'
import { claimDueIncidents, lockOpenIncidents, saveIncidents } from '#shared/monitoring/alerting/incident-store.ts'
import { promoteMembers } from '#shared/monitoring/alerting/merge-store.ts'
import { insertNotifications, withdrawNotifications } from '#shared/monitoring/alerting/notification-store.ts'
import { notifyDirectly } from '#shared/monitoring/alerting/recovery.ts'
import { reevaluateChildren } from '#shared/monitoring/rules/parent-store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { inIndexOrder } from '#shared/platform/database/in-index-order.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { gatherDigests, type Outcome, sendDigests } from './digests.ts'
import { mailManagers } from './last-resort.ts'
import { type Case, loadFacts } from './load-facts.ts'
import { createLoadReserve, createReadIntegration } from './load-inputs.ts'

const PAGE = 2_000

/** In a flood of flips, due incidents wait this long: all flips are stored sooner, and one wave joins one digest. */
const MAX_WAIT_SECONDS = 10

type AlerterDeps = Pick<WorkerDeps, 'db' | 'config' | 'outbox' | 'secrets' | 'log' | 'metrics' | 'now' | 'crashPoint'>

/** `changes` processes only flips, concurrently with a run that processes everything. */
export type Share = 'all' | 'changes'

/** Returns true if more flips may be waiting. @param claimed result of `processFlips` */
export const isFull = (claimed: number) => claimed >= PAGE

/**
 * Processes one page of flips and due incidents in one transaction: claims them, loads their facts, decides, and stores
 * incidents, decisions, notifications and outbox messages. Locks are taken in this order: checks, flips, incidents,
 * notifications.
 * @returns the number of processed rows; 0 if none is left that is not locked by another process
 */
export async function processFlips(deps: AlerterDeps, share: Share = 'all'): Promise<number> {
  const { claimed, messages } = await transaction(deps.db, async (tx) => {
    const { flips, due, isFlood } = await inIndexOrder(tx, () => claim(tx, share))
    const digests = async () => (share === 'all' ? await sendDigests(tx, deps) : [])
    if (flips.length + due.length === 0) return { claimed: 0, messages: await digests() }
    deps.crashPoint('after-claim')
    const changed = flips.map(({ checkId }) => checkId)
    const open = await lockOpenIncidents(tx, changed)
    const openOf = new Map(open.map((incident) => [incident.checkId, incident]))
    const work = [
      ...flips.map((flip) => ({ checkId: flip.checkId, flip, incident: openOf.get(flip.checkId) ?? null })),
      ...due
        .filter(({ checkId }) => !openOf.has(checkId))
        .map((incident) => ({ checkId: incident.checkId, flip: null, incident })),
    ]
    const cases = await loadFacts(tx, work, {
      readIntegration: createReadIntegration(deps),
      loadReserve: createLoadReserve(deps),
      people: deps,
    })
    const now = deps.now()
    const { outcomes: decided, join } = await gatherDigests(
      tx,
      deps,
      openTogether(
        cases.map((one) => {
          const facts = isFlood || share === 'changes' ? extendGroupDelay(one.facts, now) : one.facts
          return { one, result: decideSafely(deps, { ...one, facts }, now) }
        }),
      ),
    )

    await saveIncidents(
      tx,
      decided.flatMap(({ result }) => result.incident ?? []),
    )
    await promoteMembers(
      tx,
      decided.flatMap(({ result: { incident } }) => (incident?.resolvedAt ? [incident.id] : [])),
    )
    await join()
    await withdrawNotifications(
      tx,
      decided.flatMap(({ result }) => result.withdrawn),
    )
    const messages = await insertNotifications(
      tx,
      decided.flatMap(({ one, result }) => [
        ...result.notifications.map((notification) => ({
          ...notification,
          checkId: one.checkId,
          incidentId: result.incident?.id ?? null,
        })),
        ...(result.personal ?? []).map((notification) => ({
          ...notification,
          checkId: one.checkId,
          incidentId: result.incident?.id ?? '',
        })),
      ]),
    )
    const lastResort = decided.filter(({ result }) => result.isLastResort).map(({ one }) => one.facts.check)
    if (lastResort.length > 0) messages.push(...(await mailManagers(tx, deps, lastResort)))
    await insertDecisions(
      tx,
      decided.flatMap(({ one, result: { decision, incident } }) =>
        decision
          ? [
              {
                ...decision,
                checkId: one.checkId,
                flipId: one.flip?.id ?? null,
                incidentId: incident?.id ?? null,
                at: now,
              },
            ]
          : [],
      ),
    )
    if (flips.length > 0) await reevaluateChildren(tx, [...new Set(cases.map(({ facts }) => facts.check.projectId))])
    await markProcessed(
      tx,
      flips.map(({ id }) => id),
    )
    deps.crashPoint('before-commit')
    for (const { result } of decided) if (result.decision) countDecision(deps, result.decision)
    return { claimed: flips.length + due.length, messages: [...messages, ...(await digests())] }
  })
  if (claimed > 0) deps.crashPoint('after-commit')
  deps.outbox.publishLater(messages)
  return claimed
}

async function claim(tx: Knex, share: Share) {
  const flips = await claimFlips(tx, PAGE)
  const isFlood = flips.length === PAGE
  const due = share === 'all' ? await claimDueIncidents(tx, PAGE, isFlood ? MAX_WAIT_SECONDS : 0) : []
  return { flips, due, isFlood }
}

/** All waiting incidents of a policy get the end of the oldest grouping delay. */
function openTogether(outcomes: readonly Outcome[]): Outcome[] {
  const waiting = outcomes.filter(({ result }) => result.incident?.suppression === 'GROUPING')
  const byPolicy = Map.groupBy(waiting, ({ result }) => result.incident?.policyId ?? 0)
  for (const group of byPolicy.values()) {
    const at = Math.min(...group.flatMap(({ result }) => result.incident?.nextAt ?? []))
    for (const { result } of group) if (result.incident) result.incident.nextAt = at
  }
  return [...outcomes]
}

/** Extends a grouping delay that has ended, because the next run must see all outages of a flood. */
function extendGroupDelay<T extends Facts>(facts: T, now: Micros): T {
  const at = facts.groupDelayEndsAt
  const isExtended = at !== null && at <= now && now < at + microsOfSeconds(MAX_WAIT_SECONDS)
  return isExtended ? { ...facts, groupDelayEndsAt: now + 1 } : facts
}

function countDecision({ metrics }: AlerterDeps, { outcome, reason }: NonNullable<Decided['decision']>): void {
  metrics.alertDecisions.inc({ outcome, reason })
}

/** If `decide` throws, notifies directly, so that one check does not block the others. */
function decideSafely({ log }: AlerterDeps, { incident, facts, checkId }: Case, now: Micros): Decided {
  try {
    return decide(incident, facts, now)
  } catch (error) {
    log.error({ checkId, ...describeError(error) }, 'alert.not-decided')
    if (facts.flip) return notifyDirectly(incident, facts, facts.flip)
    return {
      incident: incident && { ...incident, nextAt: now + RETRY_AFTER },
      notifications: [],
      withdrawn: [],
      decision: null,
    }
  }
}

const RETRY_AFTER: Micros = 60_000_000
