import { type Outcome, temporary } from '#shared/delivery/outcome.ts'
import { nextAttemptInMs, notificationRetries } from '#shared/delivery/retry-schedule.ts'
import type { ContactMethod } from '#shared/monitoring/contacts/contact-method.ts'
import { findContactRow } from '#shared/monitoring/contacts/contact-store.ts'
import { ackLinkOf } from '#shared/monitoring/notifications/ack-link.ts'
import type { ClaimedNotification } from '#shared/monitoring/notifications/attempt-store.ts'
import { releaseMonthly } from '#shared/monitoring/notifications/monthly-store.ts'
import { withdrawClaimed } from '#shared/monitoring/notifications/order-store.ts'
import {
  leadBundle,
  type NotifiedProject,
  projectOfNotification,
  recordPersonalAttempt,
  releaseMembers,
} from '#shared/monitoring/notifications/personal-store.ts'
import { contactMethodOf } from '#shared/monitoring/operations/contact-config.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { type Micros, toMillis } from '#shared/time.ts'
import { PLACEHOLDER_UUID } from './build-notification.ts'
import { recordMethodAttempt, sendByMethod } from './contact-method.ts'
import type { Claim, NotifierContext } from './context.ts'
import { acquireSlot, applyLimits } from './limits.ts'
import { buildPersonalNotification } from './personal-message.ts'

// Outcomes that are not recorded: the notification waits, or belongs to another message.
const SUPERSEDED = temporary('Superseded', { failure: 'limit', final: true })
const RESCHEDULED = temporary('Waiting for other messages to the same target', { failure: 'limit' })
const BUNDLED = temporary('Sent together with other messages', { failure: 'limit' })
const LEASE_LOST = temporary('Another attempt has taken over', { failure: 'limit' })

// Refusals: nothing is sent, and the next escalation step may follow at once.
const METHOD_GONE = temporary('The contact method was deleted', { failure: 'limit', final: true })
const METHOD_DISABLED = temporary('The contact method is disabled', { failure: 'limit', final: true })
const NOT_VERIFIED = temporary('The contact method is not verified', { failure: 'limit', final: true })
const INCOMPLETE = temporary('The settings of the contact method are incomplete', { failure: 'limit', final: true })
const NOT_A_MEMBER = temporary('The person left the organisation', { failure: 'limit', final: true })
const INCIDENT_DELETED = temporary('The incident was deleted', { failure: 'limit', final: true })

/** Order as for integrations, except that notifications of one contact method wait for a bundle, not for each other. */
export async function notifyPerson(context: NotifierContext, claimed: ClaimedNotification): Promise<Outcome> {
  const { db } = context
  if (claimed.isSuperseded) {
    await withdrawClaimed(db, claimed)
    await releaseMembers(db, claimed.id)
    return SUPERSEDED
  }
  const row = claimed.methodId === null ? null : await findContactRow(db, null, claimed.methodId)
  const method = row && contactMethodOf(row, context.secrets)
  const project = await projectOfNotification(db, claimed.id)
  const refusal = refusalOf(method, project)
  if (!method || !project || refusal) return await refuse(context, claimed, refusal ?? METHOD_GONE)
  const claim = { claimed, integration: recipientOf(method, project) }
  const slot = await acquireSlot(context, claim.integration, method.config)
  if ('retryInMs' in slot) {
    await context.statements.reschedule({ id: claimed.id, seconds: slot.retryInMs / 1000 })
    return RESCHEDULED
  }
  try {
    if (!(await isLeader(context, claimed, method))) return BUNDLED
    const startedAt = context.now()
    const outcome = await sendWithinLimits(context, claim, method)
    if (outcome === LEASE_LOST) return outcome
    context.crashPoint('after-send')
    await record(context, claimed, method, { startedAt, outcome })
    return outcome
  } finally {
    slot.release()
  }
}

function refusalOf(method: ContactMethod | null, project: NotifiedProject | null): Outcome | null {
  if (!project) return INCIDENT_DELETED
  if (!method) return METHOD_GONE
  if (method.isDisabled) return METHOD_DISABLED
  if (!method.isVerified) return NOT_VERIFIED
  if (method.config === null) return INCOMPLETE
  return project.isMember ? null : NOT_A_MEMBER
}

/** A contact method counts against the limits of the organisation whose incident it reports. */
function recipientOf({ kind, name }: ContactMethod, project: NotifiedProject): Claim['integration'] {
  return { uuid: PLACEHOLDER_UUID, kind, name, sealedConfig: '', isEmailVerified: true, ...project }
}

async function isLeader(context: NotifierContext, claimed: ClaimedNotification, method: ContactMethod) {
  const { db, secrets } = context
  const { digest: linkDigest } = ackLinkOf(claimed.id, secrets.digest)
  const { id: methodId, kind } = method
  return await transaction(db, (tx) => leadBundle(tx, { claimed, methodId, kind, linkDigest, now: context.now() }))
}

/** Checks the lease last, right before sending. */
async function sendWithinLimits(context: NotifierContext, claim: Claim, method: ContactMethod): Promise<Outcome> {
  const permit = await applyLimits(context, claim, method.config)
  if (permit.refusal) return permit.refusal
  const notification = await buildPersonalNotification(context, claim)
  const isOurs = notification !== null && (await context.statements.hasLease(claim.claimed))
  const outcome = isOurs ? await sendByMethod(context, method, notification, { isStored: true }) : LEASE_LOST
  if (outcome.result !== 'delivered' && permit.reservation) await releaseMonthly(context.db, permit.reservation)
  return outcome
}

/** The method was not used, so that its state does not change. */
async function refuse(context: NotifierContext, claimed: ClaimedNotification, outcome: Outcome): Promise<Outcome> {
  // The other notifications of a retried message may belong to other organisations.
  if (outcome === NOT_A_MEMBER || outcome === INCIDENT_DELETED) await releaseMembers(context.db, claimed.id)
  const finished = finishedOf(context, claimed, { startedAt: context.now(), outcome })
  await transaction(context.db, (tx) => recordPersonalAttempt(tx, { ...finished, retryInMs: null }))
  context.log.info({ notificationId: claimed.id, methodId: claimed.methodId }, 'notification.refused')
  return outcome
}

interface Attempted {
  startedAt: Micros
  outcome: Outcome
}

async function record(
  context: NotifierContext,
  claimed: ClaimedNotification,
  method: ContactMethod,
  attempted: Attempted,
): Promise<void> {
  const finished = finishedOf(context, claimed, attempted)
  await recordMethodAttempt(context, method, attempted.outcome, (tx) => recordPersonalAttempt(tx, finished))
  const { kind } = method
  const { result: outcome } = attempted.outcome
  context.live.changed(claimed.checkId === null ? [] : [claimed.checkId], [])
  context.metrics.personalNotifications.inc({ kind, outcome })
  const { retryInMs, attempt } = finished
  context.log.info({ notificationId: claimed.id, kind, attempt, outcome, retryInMs }, 'notification.attempted')
}

function finishedOf(context: NotifierContext, { id, attempt }: ClaimedNotification, attempted: Attempted) {
  const { startedAt, outcome } = attempted
  const durationMs = Math.round(toMillis(context.now() - startedAt))
  const retryInMs = nextAttemptInMs(notificationRetries, outcome, attempt, Math.random())
  return { notificationId: id, attempt, startedAt, durationMs, outcome, retryInMs }
}
