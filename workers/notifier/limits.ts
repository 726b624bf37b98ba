import { type FailedOutcome, temporary } from '#shared/delivery/outcome.ts'
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
  const refusal = countRecipient(context, kind, integrationConfig)
  if (refusal) return { refusal }
  const monthly = monthlyOf(context, kind)
  if (!monthly) return { refusal: null, reservation: null }
  const { perMonth, meter, month } = monthly
  const reservation = { notificationId: claimed.id, organisationId, meter, month }
  const isRepeat = claimed.what === 'repeat'
  const limit = isRepeat ? limitOfRepeats(perMonth) : perMonth
  if (await reserveMonthly(context.db, reservation, limit)) return { refusal: null, reservation }
  if (isRepeat) return { refusal: reservedForOwner() }
  const exceeded = monthlyLimitExceeded(kind)
  await notifyManagers(context, integration, reservation, exceeded.error)
  return { refusal: exceeded }
}

/** As applyLimits, for a message to a contact method. */
export async function reserveContactMessage(
  context: NotifierContext,
  { kind, organisationId, messageId }: { kind: string; organisationId: number | null; messageId: string },
  contactConfig: unknown,
): Promise<Permit> {
  const refusal = countRecipient(context, kind, contactConfig)
  if (refusal) return { refusal }
  const monthly = monthlyOf(context, kind)
  if (!monthly) return { refusal: null, reservation: null }
  if (organisationId === null) return { refusal: NOT_A_MEMBER }
  const { perMonth, meter, month } = monthly
  const reservation = { notificationId: messageId, organisationId, meter, month }
  const isReserved = await reserveMonthly(context.db, reservation, perMonth)
  return isReserved ? { refusal: null, reservation } : { refusal: monthlyLimitExceeded(kind) }
}

/** The limits belong to an organisation. */
const NOT_A_MEMBER = temporary('The person is not a member of an organisation', { failure: 'limit', final: true })

function countRecipient({ recipients }: NotifierContext, kind: string, config: unknown): FailedOutcome | null {
  const recipient = hasRecipientLimit(kind) ? (findKind(kind)?.recipientOf(config) ?? null) : null
  return recipient === null ? null : recipients.count(kind, recipient, Date.now())
}

function monthlyOf({ config, now }: NotifierContext, kind: string) {
  const meter = monthlyMeterOf(kind)
  if (!meter) return null
  const perMonth = meter === 'sms' ? config.smsLimitPerMonth : config.callLimitPerMonth
  return { meter, perMonth, month: monthStart(now()) }
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
