import type { Knex } from 'knex'
import {
  claimBundles,
  closeBundle,
  type Gathering,
  gatheringPolicies,
  joinBundle,
  suggestsOwnOutage,
} from '#shared/monitoring/alerting/bundle-store.ts'
import { digestOf, inDigest } from '#shared/monitoring/alerting/digest.ts'
import type { Decided, NewNotification } from '#shared/monitoring/alerting/incident.ts'
import { insertSummaries } from '#shared/monitoring/alerting/notification-store.ts'
import {
  createDueNotifications,
  type PendingNotification,
  queueNotifications,
} from '#shared/monitoring/alerting/pending-notification-store.ts'
import type { OutboxRow } from '#shared/platform/broker/outbox-store.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { type DigestReader, digestReaders } from '../digest-readers.ts'
import type { Case } from './load-facts.ts'

export interface Outcome {
  one: Case
  result: Decided
}

interface Joining {
  gathering: Gathering
  members: { integrationId: number; incidentId: string }[]
}

/** `$GROUP_JSON` lists at most this many incidents. */
const MAX_LISTED = 1_000

/**
 * Outages join if enough of one policy are due at once; recoveries if their outage was in a digest. Integrations that
 * keep a record per check get single notifications, a few at a time. Call `join` after the incidents are stored.
 */
export async function gatherDigests(
  tx: Knex,
  deps: Pick<WorkerDeps, 'secrets' | 'log'>,
  outcomes: readonly Outcome[],
): Promise<{ outcomes: Outcome[]; join(): Promise<void> }> {
  const grouped = Map.groupBy(outcomes.filter(isGrouped), ({ one }) => one.facts.policy?.id ?? 0)
  if (grouped.size === 0) return { outcomes: [...outcomes], join: async () => {} }
  const gathering = await gatheringPolicies(tx, [...grouped.keys()])
  const isManyOf = new Map(
    [...grouped].map(([policyId, group]) => {
      const outages = group.filter(({ result }) => result.notifications.some(isOutage)).length
      const needed = group[0]?.one.facts.policy?.plan.group.checks ?? 0
      return [policyId, gathering.has(policyId) || outages >= needed]
    }),
  )
  const notified = [...grouped.values()].flat().flatMap(({ result }) => result.notifications)
  const readers = await digestReaders(tx, deps, { ids: notified.map(({ integrationId }) => integrationId), uuids: [] })
  const joining = new Map<string, Joining>()
  const waiting: PendingNotification[] = []
  const left = outcomes.map((outcome) => {
    const policyId = isGrouped(outcome) ? (outcome.one.facts.policy?.id ?? null) : null
    if (policyId === null) return outcome
    return takeOut(outcome, (notification) => {
      const isMany = isOutage(notification) && isManyOf.get(policyId)
      if (!isMany && !wasNotified(outcome, notification)) return null
      const { readers: recipients, keepers } = readers({ id: notification.integrationId })
      if (recipients.length > 0) noteMembers(joining, outcome, { policyId, notification, readers: recipients })
      const incidentId = outcome.result.incident?.id
      const single = isMany && incidentId !== undefined ? keepers : []
      for (const { id } of single)
        waiting.push({ incidentId: incidentId ?? '', notification: { ...notification, integrationId: id } })
      return { isRead: recipients.length > 0, isSingle: single.length > 0 }
    })
  })
  return {
    outcomes: left,
    async join() {
      for (const { gathering: bundle, members } of joining.values()) await joinBundle(tx, bundle, members)
      await queueNotifications(tx, waiting)
    },
  }
}

function isGrouped({ one, result }: Outcome): boolean {
  const { policy } = one.facts
  return policy?.id != null && policy.plan.group.within > 0 && result.notifications.length > 0
}

function isOutage({ what }: NewNotification): boolean {
  return what === 'first' || what === 'repeat'
}

function wasNotified({ one }: Outcome, { integrationId, what }: NewNotification): boolean {
  return (
    what === 'recovery' &&
    one.facts.notifications.some((it) => it.what === 'digest' && it.integrationId === integrationId)
  )
}

function noteMembers(
  joining: Map<string, Joining>,
  { one, result }: Outcome,
  {
    policyId,
    notification,
    readers,
  }: { policyId: number; notification: NewNotification; readers: readonly DigestReader[] },
): void {
  const incidentId = result.incident?.id
  if (incidentId === undefined) return
  const key = `${policyId} ${notification.status}`
  const known = joining.get(key) ?? {
    gathering: { projectId: one.facts.check.projectId, policyId, direction: notification.status },
    members: [],
  }
  for (const { id } of readers) known.members.push({ integrationId: id, incidentId })
  joining.set(key, known)
}

/** A digest, the pending single ones, or both (for a group). */
interface Taken {
  isRead: boolean
  isSingle: boolean
}

function takeOut({ one, result }: Outcome, take: (notification: NewNotification) => Taken | null): Outcome {
  const taken = new Map(result.notifications.map((notification) => [notification, take(notification)]))
  const ids = (matches: (destination: Taken) => boolean) =>
    new Set(
      [...taken].flatMap(([{ integrationId }, destination]) =>
        destination && matches(destination) ? [integrationId] : [],
      ),
    )
  const read = ids(({ isRead }) => isRead)
  const single = ids(({ isSingle }) => isSingle)
  if (read.size + single.size === 0) return { one, result }
  const uuids = new Set(one.facts.integrations.filter(({ id }) => read.has(id)).map(({ uuid }) => uuid))
  const notifications = result.notifications.filter(
    ({ integrationId }) => !read.has(integrationId) && !single.has(integrationId),
  )
  const isWhole = notifications.length + single.size === 0
  return { one, result: { ...result, notifications, decision: inDigest(result.decision, uuids, isWhole) } }
}

/** The caller publishes the returned messages after the commit. */
export async function sendDigests(tx: Knex, { config }: Pick<WorkerDeps, 'config'>): Promise<OutboxRow[]> {
  const messages = await createDueNotifications(tx)
  for (const bundle of await claimBundles(tx)) {
    const notified = await closeBundle(tx, bundle, MAX_LISTED)
    const status = bundle.direction
    const isSuspicious = status === 'down' && notified.length > 0 && (await suggestsOwnOutage(tx, bundle.projectId))
    const link = `${config.publicUrl}/projects/${bundle.projectUuid}/incidents`
    const summaries = notified.map(({ integrationId, size, members }) => ({
      integrationId,
      what: 'digest' as const,
      status,
      bundleId: bundle.id,
      summary: digestOf({ status, size, members, isSuspicious }, link),
    }))
    messages.push(...(await insertSummaries(tx, summaries)))
  }
  return messages
}
