import type { FailedOutcome } from '#shared/delivery/outcome.ts'
import { findKind } from '#shared/monitoring/channels/kinds.ts'
import type { Claim } from '#shared/monitoring/notifications/attempt-store.ts'
import {
  hasRecipientLimit,
  monthlyLimitExceeded,
  monthlyMeterOf,
  monthStart,
} from '#shared/monitoring/notifications/limits.ts'
import { releaseMonthly, reserveMonthly } from '#shared/monitoring/notifications/monthly-store.ts'
import type { NotifierDeps } from './notifier-deps.ts'
import { createRecipientLimiter } from './recipient-limiter.ts'

/** What may not be sent and why; or what gives the place back that was taken for it. */
export type Limited = { refusal: FailedOutcome } | { release(): Promise<void> }

const FREE: Limited = { async release() {} }

/** Takes a place under the limits of an integration before anything is sent. */
export function createLimit({
  db,
  config,
  now,
}: Pick<NotifierDeps, 'db' | 'config' | 'now'>): (claim: Claim, channelConfig: unknown) => Promise<Limited> {
  const mayReach = createRecipientLimiter()
  const perMonth = { sms: config.smsLimitPerMonth, call: config.callLimitPerMonth }

  return async ({ claimed, channel }, channelConfig) => {
    const { kind, projectId } = channel
    const recipient = hasRecipientLimit(kind) ? (findKind(kind)?.recipientOf(channelConfig) ?? null) : null
    const refusal = recipient === null ? null : mayReach(kind, recipient, Date.now())
    if (refusal) return { refusal }
    const meter = monthlyMeterOf(kind)
    if (!meter) return FREE
    const reservation = { notificationId: claimed.id, projectId, meter, month: monthStart(now()) }
    if (!(await reserveMonthly(db, reservation, perMonth[meter]))) return { refusal: monthlyLimitExceeded(kind) }
    return { release: () => releaseMonthly(db, reservation) }
  }
}
