import {
  contactMessageDue,
  integrationDisabled,
  integrationTried,
  notificationDue,
} from '#shared/contracts/worker-messages.ts'
import { createMailer, type Mailer } from '#shared/delivery/mailer.ts'
import { delivered, type Outcome, permanent, temporary } from '#shared/delivery/outcome.ts'
import { nextAttemptInMs, notificationRetries } from '#shared/delivery/retry-schedule.ts'
import { findGroupMembers, updateIntegrationRow } from '#shared/monitoring/integrations/store.ts'
import type { ClaimedForIntegration } from '#shared/monitoring/notifications/attempt-store.ts'
import { releaseMonthly } from '#shared/monitoring/notifications/monthly-store.ts'
import { supersedeOlder, withdrawClaimed } from '#shared/monitoring/notifications/order-store.ts'
import { insertNotifications } from '#shared/monitoring/notifications/store.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { type Micros, toMillis } from '#shared/time.ts'
import type { Worker } from '../define-worker.ts'
import { startHeartbeats } from '../worker-heartbeat.ts'
import { buildNotification } from './build-notification.ts'
import { sendContactMessage } from './contact-message.ts'
import { notifyMethodDisabledLater } from './contact-method.ts'
import {
  createNotifierContext,
  decryptConfig,
  INTERNAL_ERROR,
  type IntegrationClaim,
  type NotifierContext,
} from './context.ts'
import { notifyDisabled, notifyDisabledLater } from './disabled-notice.ts'
import { acquireSlot, applyLimits } from './limits.ts'
import { notifyPerson } from './personal-notification.ts'
import { transportSettings } from './transport-settings.ts'
import { transports } from './transports/registry.ts'
import type { TransportContext } from './transports/transport.ts'
import { tryIntegration } from './trial.ts'

const NOTICE_PREFETCH = 10
/** A person waits for each. They do not wait behind notifications, because they have their own queue. */
const TRIAL_PREFETCH = 100
/** Most attempts wait for their target or for a slot, so slow targets must leave room for others. */
const ATTEMPT_PREFETCH = 2_500

/** Retry delay in seconds behind an older notification. The end of the older attempt requeues it earlier. */
const SECONDS_BEHIND = 2

// Outcomes that are not recorded: the notification was deleted, waits, or belongs to another attempt. A group counts them
// as failures of its members.
const ALREADY_CLAIMED = temporary('Being sent already', { failure: 'limit' })
const SUPERSEDED = temporary('Superseded', { failure: 'limit', final: true })
const INTEGRATION_DELETED = temporary('The integration was deleted', { failure: 'limit', final: true })
const RESCHEDULED = temporary('Waiting for other messages to the same target', { failure: 'limit' })
const CHECK_DELETED = temporary('The check was deleted', { failure: 'limit', final: true })
const LEASE_LOST = temporary('Another attempt has taken over', { failure: 'limit' })

/** A newer release may have stored a kind that this one does not have. */
const UNKNOWN_KIND = permanent('This kind of integration is not known', { failure: 'config' })

/** Each message is one attempt at a stored row. After a temporary failure the row becomes due again. */
export const notifier: Worker = {
  name: 'notifier',
  sends: true,
  start(deps) {
    const policy = { plainHttp: 'anywhere', allowPrivate: deps.config.allowPrivateTargets } as const
    const userAgent = deps.config.siteName
    const http = createHttpClient({ policy, userAgent })
    const gatewayHttp = createHttpClient({ policy: { ...policy, allowPrivate: true }, userAgent })
    const mailer: Mailer | null =
      deps.config.smtpUrl === undefined ? null : createMailer({ url: deps.config.smtpUrl, from: deps.config.mailFrom })
    const context = createNotifierContext({ ...deps, http, gatewayHttp, mailer })
    const subscriptions = [
      on(notificationDue, ATTEMPT_PREFETCH, async ({ notificationId }) => {
        await claimAndSend(context, notificationId)
      }),
      on(integrationTried, TRIAL_PREFETCH, (trial) => tryIntegration(context, trial)),
      on(contactMessageDue, TRIAL_PREFETCH, (message) => sendContactMessage(context, message)),
      on(integrationDisabled, NOTICE_PREFETCH, async ({ notificationId }) => {
        await notifyDisabledLater(context, notificationId)
        await notifyMethodDisabledLater(context, notificationId)
      }),
    ]
    return [
      startHeartbeats(deps, 'notifier'),
      http,
      gatewayHttp,
      ...(mailer ? [mailer] : []),
      ...subscriptions.map((subscription) => subscribe('notifier', subscription, deps)),
    ]
  },
}

/**
 * Claims a notification and makes one attempt. The claim makes a duplicate message harmless, and ends with its lease if
 * the process crashes.
 */
async function claimAndSend(context: NotifierContext, notificationId: string): Promise<Outcome> {
  const claimed = await context.statements.claim(notificationId)
  if (!claimed) return ALREADY_CLAIMED
  const { integrationId } = claimed
  return integrationId === null
    ? await notifyPerson(context, claimed)
    : await attempt(context, { ...claimed, integrationId })
}

/** Order: older notifications, decryption, slot, limits, sending, recording. */
async function attempt(context: NotifierContext, claimed: ClaimedForIntegration): Promise<Outcome> {
  if (!(await isNext(context, claimed))) return SUPERSEDED
  const integration = await context.statements.findIntegration(claimed.integrationId)
  if (!integration) return INTEGRATION_DELETED
  const claim = { claimed, integration }
  const integrationConfig = decryptConfig(context, integration)
  if (integrationConfig === undefined) {
    await record(context, claim, context.now(), INTERNAL_ERROR)
    return INTERNAL_ERROR
  }
  const slot = await acquireSlot(context, integration, integrationConfig)
  if ('retryInMs' in slot) {
    await context.statements.reschedule({ id: claimed.id, seconds: slot.retryInMs / 1000 })
    return RESCHEDULED
  }
  const startedAt = context.now()
  const outcome = await sendWithinLimits(context, claim, integrationConfig).finally(slot.release)
  if (outcome === LEASE_LOST || outcome === CHECK_DELETED) return outcome
  context.crashPoint('after-send')
  await record(context, claim, startedAt, outcome)
  return outcome
}

/**
 * Returns true if a claimed notification may be sent now. Notifications of one check to one integration keep their
 * order: if a newer one was sent, this one is withdrawn; if an older one is not finished, this one is rescheduled.
 */
async function isNext(context: NotifierContext, claimed: ClaimedForIntegration): Promise<boolean> {
  const { db, behind, statements } = context
  if (claimed.isSuperseded) {
    await withdrawClaimed(db, claimed)
    return false
  }
  if (!claimed.hasOlder) return true
  const key = orderKey(claimed)
  behind.add(key)
  if (await supersedeOlder(db, claimed)) {
    behind.delete(key)
    return true
  }
  await statements.reschedule({ id: claimed.id, seconds: SECONDS_BEHIND })
  // An older attempt that ended during the update could not requeue this row, because it was still claimed.
  if (!behind.has(key)) await requeueBehind(context, claimed)
  return false
}

/** Requeues notifications that wait behind this one. The sweeper requeues those that another process rescheduled. */
async function requeueBehind({ statements }: NotifierContext, claimed: ClaimedForIntegration): Promise<void> {
  const { checkId, integrationId } = claimed
  if (checkId !== null) await statements.requeueWaiting({ checkId, integrationId })
}

function orderKey({ checkId, integrationId }: ClaimedForIntegration): string {
  return `${checkId}:${integrationId}`
}

async function sendWithinLimits(
  context: NotifierContext,
  claim: IntegrationClaim,
  integrationConfig: unknown,
): Promise<Outcome> {
  const permit = await applyLimits(context, claim, integrationConfig)
  if (permit.refusal) return permit.refusal
  const outcome = await send(context, claim, integrationConfig)
  if (outcome.result !== 'delivered' && permit.reservation) await releaseMonthly(context.db, permit.reservation)
  return outcome
}

/** Checks the lease last, right before sending. */
async function send(context: NotifierContext, claim: IntegrationClaim, integrationConfig: unknown): Promise<Outcome> {
  const { claimed, integration } = claim
  const transport = transports.get(integration.kind)
  const notification = await buildNotification(context, claim)
  if (!notification) return CHECK_DELETED
  if (!transport) return UNKNOWN_KIND
  if (!(await context.statements.hasLease(claimed))) return LEASE_LOST
  try {
    return await transport.send(transportContext(context, claim), integrationConfig, notification)
  } catch (error) {
    context.log.error(
      { notificationId: claimed.id, kind: integration.kind, ...describeError(error) },
      'transport.failed',
    )
    return INTERNAL_ERROR
  }
}

function transportContext(context: NotifierContext, claim: IntegrationClaim): TransportContext {
  const { db, secrets, http, gatewayHttp, mailer } = context
  return {
    http,
    gatewayHttp,
    mailer,
    settings: transportSettings(context),
    now: Date.now,
    async saveConfig(changed) {
      const sealedConfig = secrets.seal('integration', JSON.stringify(changed))
      await updateIntegrationRow(db, claim.claimed.integrationId, { sealedConfig })
    },
    sendToMembers: (integrationIds) => sendToMembers(context, claim, integrationIds),
  }
}

/** At most one row per member and flip, attempted at once. A member is retried separately. */
async function sendToMembers(
  context: NotifierContext,
  { claimed: group, integration }: IntegrationClaim,
  integrationIds: readonly string[],
): Promise<readonly Outcome[]> {
  const members = await findGroupMembers(context.db, integration.projectId, integrationIds)
  const source = { flipId: group.flipId, checkId: group.checkId, status: group.status, place: group }
  const ids = await insertNotifications(context.db, source, members)
  const outcomes = await Promise.all(ids.map((id) => claimAndSend(context, id)))
  // The other members already have a notification of this flip, from this group or directly.
  const existing = members.length - ids.length
  return [...outcomes, ...Array.from({ length: existing }, () => delivered)]
}

/** Also updates open pages and metrics. If the attempt disabled the integration, notifies its owners. */
async function record(
  context: NotifierContext,
  claim: IntegrationClaim,
  startedAt: Micros,
  outcome: Outcome,
): Promise<void> {
  const { claimed, integration } = claim
  const { id, integrationId, checkId, attempt: attemptNumber } = claimed
  // A person who sends a test waits for the result and can repeat it.
  const isRetried = claimed.what !== 'test'
  const retryInMs = isRetried ? nextAttemptInMs(notificationRetries, outcome, attemptNumber, Math.random()) : null
  const durationMs = Math.round(toMillis(context.now() - startedAt))
  const finished = {
    notificationId: id,
    integrationId,
    attempt: attemptNumber,
    startedAt,
    durationMs,
    outcome,
    retryInMs,
  }
  const { isDisabledNow } = await context.statements.record(finished)
  if (context.behind.delete(orderKey(claimed))) await requeueBehind(context, claimed)
  context.live.changed(checkId === null ? [] : [checkId], [integrationId])
  context.metrics.notifications.inc({ kind: integration.kind, outcome: outcome.result })
  const failure = outcome.result === 'delivered' ? {} : { failure: outcome.failure, retryInMs }
  context.log.info(
    { notificationId: id, kind: integration.kind, attempt: attemptNumber, outcome: outcome.result, ...failure },
    'notification.attempted',
  )
  if (isDisabledNow && outcome.result === 'permanent') {
    await notifyDisabled(context, claimed, integration, outcome.error)
  }
}
