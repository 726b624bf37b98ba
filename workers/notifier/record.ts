import type { Outcome } from '#shared/delivery/outcome.ts'
import { nextAttemptInMs, notificationRetries } from '#shared/delivery/retry-schedule.ts'
import { type Claim, type FinishedAttempt, recordAttempts } from '#shared/monitoring/notifications/attempt-store.ts'
import { batched } from '#shared/platform/process/batch.ts'
import { type Micros, toMillis } from '#shared/time.ts'
import { notifyDisabled } from './disabled-notice.ts'
import type { NotifierDeps } from './notifier-deps.ts'
import type { Order } from './order.ts'

const BATCH = { largest: 200, start: setImmediate }

type RecordDeps = Pick<NotifierDeps, 'db' | 'config' | 'secrets' | 'log' | 'metrics' | 'live' | 'now' | 'mailer'>

/** Stores how an attempt ended and when the next one is due; tells pages, metrics, and who should know. */
export function createRecord(
  deps: RecordDeps,
  order: Pick<Order, 'leave'>,
): (claim: Claim, startedAt: Micros, outcome: Outcome) => Promise<void> {
  const { db, log, live, metrics } = deps
  const store = batched((finished: readonly FinishedAttempt[]) => recordAttempts(db, finished), BATCH)

  return async (claim, startedAt, outcome) => {
    const { claimed, channel } = claim
    const retryInMs = nextDelay(claim, outcome)
    const { isDisabledNow } = await store({
      notificationId: claimed.id,
      integrationId: claimed.integrationId,
      attempt: claimed.attempt,
      startedAt,
      durationMs: Math.round(toMillis(deps.now() - startedAt)),
      outcome,
      retryInMs,
    })
    await order.leave(claimed)
    live.changed(claimed.checkId === null ? [] : [claimed.checkId], [claimed.integrationId])
    metrics.notifications.inc({ kind: channel.kind, outcome: outcome.result })
    const failure = outcome.result === 'delivered' ? {} : { failure: outcome.failure, retryInMs }
    log.info(
      { notificationId: claimed.id, kind: channel.kind, attempt: claimed.attempt, outcome: outcome.result, ...failure },
      'notification.attempted',
    )
    if (isDisabledNow && outcome.result === 'permanent') await notifyDisabled(deps, claimed, channel, outcome.error)
  }
}

/** Tests are made by a person who waits and can try again. */
function nextDelay({ claimed }: Claim, outcome: Outcome): number | null {
  if (claimed.what === 'test') return null
  return nextAttemptInMs(notificationRetries, outcome, claimed.attempt, Math.random())
}
