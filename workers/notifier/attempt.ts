import { type Outcome, temporary } from '#shared/delivery/outcome.ts'
import { group } from '#shared/monitoring/integrations/kinds/other.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import {
  type Claim,
  type ClaimedNotification,
  claimNotifications,
  postponeNotifications,
} from '#shared/monitoring/notifications/attempt-store.ts'
import { integrationsForSending } from '#shared/monitoring/notifications/sending-store.ts'
import { batched } from '#shared/platform/process/batch.ts'
import type { ConcurrencyLimiter, Entry } from './concurrency-limiter.ts'
import { decryptConfig } from './decrypt-config.ts'
import { createLimit } from './limit.ts'
import type { NotifierDeps } from './notifier-deps.ts'
import { createOrder } from './order.ts'
import { createRecord } from './record.ts'
import { CHECK_GONE, createSend, INTERNAL_ERROR, OVERTAKEN } from './send.ts'

/** What waits for an older message is due again when that has been tried, at the latest after so long. */
const SECONDS_BEHIND = 2

/** Notifications that one statement claims or puts back. */
const BATCH = { largest: 200, start: setImmediate }

/** Nothing is left to record it on: its notifications went with it. */
const INTEGRATION_GONE = temporary('The integration was deleted', { failure: 'limit', final: true })

/**
 * Makes one attempt at a notification, in steps: claim it, open the integration, wait for a place at its target, take
 * what its limits allow, send, and record how it ended. What many attempts ask of the database at the same time is one
 * statement. Claiming first makes a copy of the message, and the message of a process that died in between, harmless.
 */
export function createAttempts(
  deps: NotifierDeps,
  places: ConcurrencyLimiter,
): (notificationId: string) => Promise<void> {
  const { db } = deps
  const claim = batched((ids: readonly string[]) => claimNotifications(db, ids), BATCH)
  const integrationOf = batched((ids: readonly number[]) => integrationsForSending(db, ids), BATCH)
  const postpone = batched(async (postponed: readonly { id: string; seconds: number }[]) => {
    await postponeNotifications(db, postponed)
    return postponed
  }, BATCH)
  const limit = createLimit(deps)
  const send = createSend(deps, attemptMember)
  const order = createOrder(deps, async (id) => void (await postpone({ id, seconds: SECONDS_BEHIND })))
  const record = createRecord(deps, order)

  return async (notificationId) => {
    const claimed = await claim(notificationId)
    if (claimed) await run(claimed)
  }

  async function attemptMember(id: string): Promise<Outcome> {
    const claimed = await claim(id)
    return claimed ? await run(claimed) : temporary('Being sent already', { failure: 'limit' })
  }

  async function run(notification: ClaimedNotification): Promise<Outcome> {
    if (!(await order.admit(notification))) return temporary('Overtaken', { failure: 'limit', final: true })
    const channel = await integrationOf(notification.integrationId)
    if (!channel) return INTEGRATION_GONE
    const claimed = { claimed: notification, channel }
    const integrationConfig = decryptConfig(deps, claimed.channel)
    if (integrationConfig === undefined) {
      await record(claimed, deps.now(), INTERNAL_ERROR)
      return INTERNAL_ERROR
    }
    const place = await enter(claimed, integrationConfig)
    if ('comeBackInMs' in place) {
      await postpone({ id: claimed.claimed.id, seconds: place.comeBackInMs / 1000 })
      return temporary('Waiting for other messages to the same target', { failure: 'limit' })
    }
    const startedAt = deps.now()
    const outcome = await sendLimited(claimed, integrationConfig).finally(place.leave)
    if (outcome === OVERTAKEN || outcome === CHECK_GONE) return outcome
    deps.crashPoint('after-send')
    await record(claimed, startedAt, outcome)
    return outcome
  }

  /** A group sends nothing by itself: were it to hold a place while its members wait, groups would wait for groups. */
  async function enter({ channel: { kind, projectId } }: Claim, integrationConfig: unknown): Promise<Entry> {
    return kind === group.kind ? { leave: () => {} } : await places.enter(targetOf(kind, integrationConfig), projectId)
  }

  async function sendLimited(claimed: Claim, integrationConfig: unknown): Promise<Outcome> {
    const limited = await limit(claimed, integrationConfig)
    if ('refusal' in limited) return limited.refusal
    const outcome = await send(claimed, integrationConfig)
    if (outcome.result !== 'delivered') await limited.release()
    return outcome
  }
}

/** What may be slow together: the host for kinds that send to a URL, the service for the others. */
export function targetOf(kind: string, integrationConfig: unknown): string {
  const [url] = findKind(kind)?.targetsOf(integrationConfig) ?? []
  return url === undefined ? kind : (URL.parse(url)?.host ?? kind)
}
