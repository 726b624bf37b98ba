import type { Knex } from 'knex'
import { nextAttemptInMs } from '#shared/delivery/next-attempt.ts'
import { type Outcome, permanent, temporary } from '#shared/delivery/outcome.ts'
import { notificationRetries } from '#shared/delivery/retry-schedule.ts'
import { findKind } from '#shared/monitoring/channels/kinds.ts'
import { findChannel, updateChannel } from '#shared/monitoring/channels/store.ts'
import {
  checkMonthlyLimit,
  hasRecipientLimit,
  monthlyMeterOf,
  monthStart,
} from '#shared/monitoring/notifications/limits.ts'
import {
  type ChannelForSending,
  type ClaimedNotification,
  channelForSending,
  claimNotification,
  countSentSince,
  holdsLease,
  postponeNotification,
  recordAttempt,
} from '#shared/monitoring/notifications/store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { buildNotification } from './build-notification.ts'
import { createBulkhead } from './bulkhead.ts'
import { notifyDisabled } from './disabled-notice.ts'
import { createMembers } from './members.ts'
import type { NotifierDeps } from './notifier-deps.ts'
import { createRecipientLimiter } from './recipient-limiter.ts'
import { transports } from './transports/registry.ts'
import type { TransportContext } from './transports/transport.ts'

/** Attempts at one target at a time, so that a slow one cannot take every place. */
const CONCURRENCY_PER_TARGET = 10
const POSTPONE_SECONDS = 2

/** Stored by a version that knew more kinds than this one. */
const UNKNOWN_KIND = permanent('This kind of integration is not known', { failure: 'config' })

/** Ours to mend. It is tried again like any other failure, and so ends at last. */
const INTERNAL_ERROR = temporary('Internal error', { failure: 'internal' })
/** Not the integration's fault, and nothing is left to record it on: its notifications went with the check. */
const CHECK_GONE = temporary('The check was deleted', { failure: 'limit', final: true })
const OVERTAKEN = temporary('Another attempt has taken over', { failure: 'limit' })

/**
 * Makes one attempt at a notification and records how it ended. Claiming it first makes a copy of the message, and the
 * message of a process that died in between, harmless.
 */
export function createAttempts(deps: NotifierDeps): (notificationId: string) => Promise<void> {
  const { db, config, secrets, log, metrics } = deps
  const bulkhead = createBulkhead(CONCURRENCY_PER_TARGET)
  const mayReach = createRecipientLimiter()

  return async (notificationId) => {
    const claimed = await claimNotification(db, notificationId)
    if (claimed) await run(claimed)
  }

  async function run(claimed: ClaimedNotification): Promise<Outcome> {
    const channel = await channelForSending(db, claimed.channelId)
    if (!channel) return UNKNOWN_KIND
    const startedAt = deps.now()
    const channelConfig = openConfig(channel)
    if (channelConfig === undefined) {
      await finish(claimed, channel, startedAt, INTERNAL_ERROR)
      return INTERNAL_ERROR
    }
    const leave = bulkhead.enter(targetOf(channel, channelConfig))
    if (!leave) {
      await postponeNotification(db, claimed.id, POSTPONE_SECONDS)
      return temporary('Waiting for other messages to the same target', { failure: 'limit' })
    }
    try {
      const outcome = (await checkLimits(channel, channelConfig)) ?? (await send(claimed, channel, channelConfig))
      if (outcome === OVERTAKEN || outcome === CHECK_GONE) return outcome
      deps.crashPoint('after-send')
      await finish(claimed, channel, startedAt, outcome)
      return outcome
    } finally {
      leave()
    }
  }

  /** @returns undefined when it cannot be read: the keys it was sealed under are gone, or it is damaged */
  function openConfig(channel: ChannelForSending): unknown {
    try {
      return JSON.parse(secrets.open(channel.sealedConfig))
    } catch (error) {
      log.error({ kind: channel.kind, ...describeError(error) }, 'channel.not-readable')
      return undefined
    }
  }

  async function send(claimed: ClaimedNotification, channel: ChannelForSending, channelConfig: unknown) {
    const transport = transports.get(channel.kind)
    const notification = await buildNotification(deps, claimed, channel)
    if (!notification) return CHECK_GONE
    if (!transport) return UNKNOWN_KIND
    if (!(await holdsLease(db, claimed))) return OVERTAKEN
    try {
      return await transport.send(contextFor(claimed, channel), channelConfig, notification)
    } catch (error) {
      log.error({ notificationId: claimed.id, kind: channel.kind, ...describeError(error) }, 'transport.failed')
      return INTERNAL_ERROR
    }
  }

  function contextFor(claimed: ClaimedNotification, channel: ChannelForSending): TransportContext {
    const { twilioAccount: account, twilioAuth: auth, twilioFrom: from } = config
    const isTwilioSet = account !== undefined && auth !== undefined && from !== undefined
    return {
      http: deps.http,
      gatewayHttp: deps.gatewayHttp,
      mailer: deps.mailer,
      settings: {
        siteName: config.siteName,
        twilio: isTwilioSet ? { url: config.twilioUrl, account, auth, from } : null,
      },
      now: Date.now,
      saveConfig: async (changed) => {
        await updateChannel(db, claimed.channelId, { sealedConfig: secrets.seal(JSON.stringify(changed)) })
      },
      sendToMembers: createMembers(deps, claimed, channel.projectId, run),
    }
  }

  async function checkLimits(channel: ChannelForSending, channelConfig: unknown): Promise<Outcome | null> {
    const meter = monthlyMeterOf(channel.kind)
    if (meter) {
      const kinds = meter === 'sms' ? ['sms', 'whatsapp'] : ['call']
      const limit = meter === 'sms' ? config.smsLimitPerMonth : config.callLimitPerMonth
      const sent = await countSentSince(db, channel.projectId, kinds, monthStart(deps.now()))
      const refusal = checkMonthlyLimit(channel.kind, sent, limit)
      if (refusal) return refusal
    }
    if (!hasRecipientLimit(channel.kind)) return null
    const recipient = findKind(channel.kind)?.recipientOf(channelConfig) ?? null
    return recipient === null ? null : mayReach(channel.kind, recipient, Date.now())
  }

  async function finish(
    claimed: ClaimedNotification,
    channel: ChannelForSending,
    startedAt: number,
    outcome: Outcome,
  ): Promise<void> {
    const durationMs = Math.round((deps.now() - startedAt) / 1000)
    const retryInMs = nextDelay(claimed, outcome)
    const isDisabledNow = await transaction(db, async (tx) => {
      const wasEnabled = outcome.result === 'permanent' && (await isEnabled(tx, claimed.channelId, channel))
      await recordAttempt(tx, {
        notificationId: claimed.id,
        channelId: claimed.channelId,
        attempt: claimed.attempt,
        startedAt,
        durationMs,
        outcome,
        retryInMs,
      })
      return wasEnabled
    })
    deps.live.changed(claimed.checkId === null ? [] : [claimed.checkId], [claimed.channelId])
    metrics.notifications.inc({ kind: channel.kind, outcome: outcome.result })
    const failure = outcome.result === 'delivered' ? {} : { failure: outcome.failure, retryInMs }
    log.info(
      { notificationId: claimed.id, kind: channel.kind, attempt: claimed.attempt, outcome: outcome.result, ...failure },
      'notification.attempted',
    )
    if (isDisabledNow && outcome.result === 'permanent') await notifyDisabled(deps, claimed, channel, outcome.error)
  }
}

/** Of several attempts that fail for good at once, the first to get here disables the integration; the others see it. */
async function isEnabled(tx: Knex, channelId: number, channel: ChannelForSending): Promise<boolean> {
  // A change of nothing, which makes the others wait until this transaction has ended.
  await updateChannel(tx, channelId, {})
  const stored = await findChannel(tx, channel.projectId, channel.uuid)
  return stored !== null && stored.disabledAt === null
}

/** Tests are made by a person who waits and can try again. */
function nextDelay(claimed: ClaimedNotification, outcome: Outcome): number | null {
  if (claimed.flipId === null) return null
  return nextAttemptInMs(notificationRetries, outcome, claimed.attempt, Math.random())
}

/** What may be slow together: the host for kinds that send to a URL, the service for the others. */
function targetOf(channel: ChannelForSending, channelConfig: unknown): string {
  const [url] = findKind(channel.kind)?.targetsOf(channelConfig) ?? []
  return url === undefined ? channel.kind : (URL.parse(url)?.host ?? channel.kind)
}
