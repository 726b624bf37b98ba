import { checkFlipped } from '#shared/contracts/check-flipped.ts'
import { notificationDue } from '#shared/contracts/notification-due.ts'
import { createMailer, type Mailer } from '#shared/delivery/mailer.ts'
import { findKind } from '#shared/monitoring/channels/kinds.ts'
import {
  type AssignedChannel,
  assignedChannels,
  claimFlip,
  insertNotifications,
} from '#shared/monitoring/notifications/store.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { createAttempts } from './attempt.ts'

/** A flip is a few rows. */
const FLIP_PREFETCH = 20
/** An attempt mostly waits for its target: many are under way, so that the slow ones leave room for the rest. */
const ATTEMPT_PREFETCH = 300

/**
 * Notifies integrations of changes. A flip becomes one notification per integration, a row with a message each; every
 * message is one attempt. What failed for now becomes due again, and the sweeper sends it round once more.
 */
export const notifier: Worker = {
  name: 'notifier',
  start(deps) {
    const policy = { plainHttp: 'anywhere', allowPrivate: deps.config.allowPrivateTargets } as const
    const userAgent = deps.config.siteName
    const http = createHttpClient({ policy, userAgent })
    const gatewayHttp = createHttpClient({ policy: { ...policy, allowPrivate: true }, userAgent })
    const mailer: Mailer | null =
      deps.config.smtpUrl === undefined ? null : createMailer({ url: deps.config.smtpUrl, from: deps.config.mailFrom })
    const attempt = createAttempts({ ...deps, http, gatewayHttp, mailer })
    const subscriptions = [
      on(checkFlipped, FLIP_PREFETCH, ({ flipId }) => fanOut(deps, flipId)),
      on(notificationDue, ATTEMPT_PREFETCH, ({ notificationId }) => attempt(notificationId)),
    ]
    return [
      http,
      gatewayHttp,
      ...(mailer ? [mailer] : []),
      ...subscriptions.map((subscription) => subscribe('notifier', subscription, deps)),
    ]
  },
}

/** A flip becomes notifications, once: claiming it, the rows and the messages are one transaction. */
async function fanOut({ outbox, secrets, log }: WorkerDeps, flipId: number): Promise<void> {
  const wants = ({ kind, sealedConfig }: AssignedChannel, status: 'up' | 'down') => {
    try {
      return !findKind(kind)?.isNoop(JSON.parse(secrets.open(sealedConfig)), status)
    } catch (error) {
      // It must not silence its neighbours: it gets its notification, whose attempt says what is wrong.
      log.error({ kind, ...describeError(error) }, 'channel.not-readable')
      return true
    }
  }

  await outbox.run(async (tx, enqueue) => {
    const flip = await claimFlip(tx, flipId)
    if (!flip || (flip.to !== 'up' && flip.to !== 'down')) return
    const status = flip.to
    const channels = await assignedChannels(tx, flip.checkId)
    const wanted = channels.filter((channel) => wants(channel, status))
    const ids = await insertNotifications(
      tx,
      { flipId: flip.id, checkId: flip.checkId, status },
      wanted.map(({ id }) => id),
    )
    for (const notificationId of ids) await enqueue(notificationDue, { notificationId })
  })
}
