import { checkFlipped } from '#shared/contracts/check-flipped.ts'
import {
  alertsReevaluate,
  integrationDisabled,
  integrationTried,
  notificationDue,
} from '#shared/contracts/worker-messages.ts'
import { createMailer, type Mailer } from '#shared/delivery/mailer.ts'
import { isFlipWaiting } from '#shared/monitoring/alerting/flip-store.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import { createHttpClient } from '#shared/platform/http/http-client.ts'
import type { Worker, WorkerDeps } from '../define-worker.ts'
import { startHeartbeats } from '../worker-heartbeat.ts'
import { createAttempts } from './attempt.ts'
import { createConcurrencyLimiter } from './concurrency-limiter.ts'
import { notifyDisabledLater } from './disabled-notice.ts'
import { createTrials } from './trial.ts'

/** Sent by the release before only. */
const FLIP_PREFETCH = 20
/** Each is a mail or a few, and they are rare. */
const NOTICE_PREFETCH = 10
/** Somebody waits for each, so that there are few; they stand behind no crowd of other messages. */
const TRIAL_PREFETCH = 100
/** An attempt mostly waits for its target, or for a place there (places.ts): slow ones leave room for the rest. */
const ATTEMPT_PREFETCH = 2_500

/**
 * Notifies integrations of changes. The alerter makes one notification per integration, a row with a message each; every
 * message is one attempt. What failed for now becomes due again, and the sweeper sends it round once more.
 */
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
    const own = { ...deps, http, gatewayHttp, mailer }
    const places = createConcurrencyLimiter()
    const attempt = createAttempts(own, places)
    const subscriptions = [
      on(checkFlipped, FLIP_PREFETCH, ({ flipId }) => requeueAlerts(deps, flipId)),
      on(notificationDue, ATTEMPT_PREFETCH, ({ notificationId }) => attempt(notificationId)),
      on(integrationTried, TRIAL_PREFETCH, createTrials(own, places)),
      on(integrationDisabled, NOTICE_PREFETCH, ({ notificationId }) => notifyDisabledLater(own, notificationId)),
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

/** The release before had a message for each flip. The alerter finds the flip by itself. */
async function requeueAlerts({ db, outbox }: WorkerDeps, flipId: number): Promise<void> {
  if (await isFlipWaiting(db, flipId)) await outbox.run((_tx, enqueue) => enqueue(alertsReevaluate, {}))
}
