import type { FailedOutcome } from '#shared/delivery/outcome.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import type { Claim } from '#shared/monitoring/notifications/attempt-store.ts'
import {
  hasRecipientLimit,
  limitOfRepeats,
  monthlyLimitExceeded,
  monthlyMeterOf,
  monthStart,
  reservedForOwner,
} from '#shared/monitoring/notifications/limits.ts'
import { releaseMonthly, reserveMonthly } from '#shared/monitoring/notifications/monthly-store.ts'
import { noteMonthlyLimit } from '#shared/monitoring/operations/reports.ts'
import type { NotifierDeps } from './notifier-deps.ts'
import { createRecipientLimiter } from './recipient-limiter.ts'

/** What may not be sent and why; or what gives the place back that was taken for it. */
export type Limited = { refusal: FailedOutcome } | { release(): Promise<void> }

const FREE: Limited = { async release() {} }

/** Takes a place under the limits of an integration before anything is sent. */
export function createLimit(
  deps: Pick<NotifierDeps, 'db' | 'config' | 'now' | 'outbox' | 'secrets'>,
): (claim: Claim, integrationConfig: unknown) => Promise<Limited> {
  const { db, config, now, outbox } = deps
  const mayReach = createRecipientLimiter()
  const perMonth = { sms: config.smsLimitPerMonth, call: config.callLimitPerMonth }

  return async ({ claimed, channel }, integrationConfig) => {
    const { kind, organisationId } = channel
    const recipient = hasRecipientLimit(kind) ? (findKind(kind)?.recipientOf(integrationConfig) ?? null) : null
    const refusal = recipient === null ? null : mayReach(kind, recipient, Date.now())
    if (refusal) return { refusal }
    const meter = monthlyMeterOf(kind)
    if (!meter) return FREE
    const reservation = { notificationId: claimed.id, organisationId, meter, month: monthStart(now()) }
    const isRepeat = claimed.what === 'repeat'
    const limit = isRepeat ? limitOfRepeats(perMonth[meter]) : perMonth[meter]
    if (!(await reserveMonthly(db, reservation, limit))) {
      if (isRepeat) return { refusal: reservedForOwner() }
      const refusal = monthlyLimitExceeded(kind)
      if (config.smtpUrl !== undefined) {
        const { projectId, projectUuid, projectName } = channel
        const reached = { organisationId, projectId, projectUuid, projectName, meter, month: reservation.month }
        await outbox.run((tx, enqueue) => noteMonthlyLimit(tx, enqueue, deps, { ...reached, what: refusal.error }))
      }
      return { refusal }
    }
    return { release: () => releaseMonthly(db, reservation) }
  }
}
