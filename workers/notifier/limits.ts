import type { FailedOutcome } from '#shared/delivery/outcome.ts'
import { group } from '#shared/monitoring/integrations/kinds/other.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import {
  hasRecipientLimit,
  limitOfRepeats,
  monthlyLimitExceeded,
  monthlyMeterOf,
  monthStart,
  reservedForOwner,
} from '#shared/monitoring/notifications/limits.ts'
import { type Reservation, reserveMonthly } from '#shared/monitoring/notifications/monthly-store.ts'
import type { IntegrationForSending } from '#shared/monitoring/notifications/sending-store.ts'
import { noteMonthlyLimit } from '#shared/monitoring/operations/reports.ts'
import type { Acquired } from './concurrency-limiter.ts'
import type { Claim, NotifierContext } from './context.ts'

const SLOT_OF_GROUP: Acquired = { release: () => {} }

/** A group uses no slot: groups that hold slots while their members wait for slots would block each other. */
export async function acquireSlot(
  { slots }: Pick<NotifierContext, 'slots'>,
  { kind, projectId }: Pick<IntegrationForSending, 'kind' | 'projectId'>,
  integrationConfig: unknown,
): Promise<Acquired> {
  return kind === group.kind ? SLOT_OF_GROUP : await slots.acquire(targetOf(kind, integrationConfig), projectId)
}

/** The host if the kind has a URL, otherwise the kind's service; each may be slow as a whole. */
function targetOf(kind: string, integrationConfig: unknown): string {
  const [url] = findKind(kind)?.targetsOf(integrationConfig) ?? []
  return url === undefined ? kind : (URL.parse(url)?.host ?? kind)
}

/** Release the reservation if the notification is not delivered. */
type Permit = { refusal: null; reservation: Reservation | null } | { refusal: FailedOutcome }

/** Counts before sending, for the recipient and for the account's month. */
export async function applyLimits(
  context: NotifierContext,
  { claimed, integration }: Claim,
  integrationConfig: unknown,
): Promise<Permit> {
  const { kind, organisationId } = integration
  const recipient = hasRecipientLimit(kind) ? (findKind(kind)?.recipientOf(integrationConfig) ?? null) : null
  const refusal = recipient === null ? null : context.recipients.count(kind, recipient, Date.now())
  if (refusal) return { refusal }
  const meter = monthlyMeterOf(kind)
  if (!meter) return { refusal: null, reservation: null }
  const { smsLimitPerMonth, callLimitPerMonth } = context.config
  const perMonth = meter === 'sms' ? smsLimitPerMonth : callLimitPerMonth
  const reservation = { notificationId: claimed.id, organisationId, meter, month: monthStart(context.now()) }
  const isRepeat = claimed.what === 'repeat'
  const limit = isRepeat ? limitOfRepeats(perMonth) : perMonth
  if (await reserveMonthly(context.db, reservation, limit)) return { refusal: null, reservation }
  if (isRepeat) return { refusal: reservedForOwner() }
  const exceeded = monthlyLimitExceeded(kind)
  await notifyManagers(context, integration, reservation, exceeded.error)
  return { refusal: exceeded }
}

async function notifyManagers(
  context: NotifierContext,
  { organisationId, projectId, projectUuid, projectName }: IntegrationForSending,
  { meter, month }: Reservation,
  what: string,
): Promise<void> {
  if (context.config.smtpUrl === undefined) return
  const reached = { organisationId, projectId, projectUuid, projectName, meter, month, what }
  await context.outbox.run((tx, enqueue) => noteMonthlyLimit(tx, enqueue, context, reached))
}
