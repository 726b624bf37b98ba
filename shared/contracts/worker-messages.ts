import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/**
 * Flips without notifications or due escalation steps exist. It names none: the consumer processes all of them, so a
 * duplicate finds nothing.
 */
export const alertsReevaluate = defineMessage('alerts.wake', 1, {
  consumers: ['alerter'],
  schema: z.object({}),
})

/** An endpoint has a due delivery. The consumer sends its due deliveries one after the other, as stored in rows. */
export const deliveryDue = defineMessage('delivery.due', 1, {
  consumers: ['webhook-deliverer'],
  schema: z.object({ endpointId: z.uuid() }),
})

/**
 * The status of a credential that verified an identity is due for a check. Idempotent: a repeated check leaves a
 * suspended identity suspended.
 */
export const identityStatusDue = defineMessage('identity.status_due', 1, {
  consumers: ['presentation-verifier'],
  schema: z.object({ verificationId: z.uuid() }),
})

/**
 * A later result of a delivered message (a bounce, a gateway callback) disabled its integration, so the users must be
 * notified. Mails of a duplicate have the same ids.
 */
export const integrationDisabled = defineMessage('integration.disabled', 1, {
  consumers: ['notifier'],
  schema: z.object({ notificationId: z.uuid() }),
})

/**
 * A test of a webhook that is not stored: the message contains its sealed configuration. Idempotent: an early duplicate
 * reports the same test, a late one sends nothing.
 */
export const integrationTried = defineMessage('integration.tried', 1, {
  consumers: ['notifier'],
  schema: z.object({
    trialId: z.uuid(),
    /** the project whose share of the target's concurrency is used */
    projectId: z.int(),
    status: z.enum(['up', 'down']),
    sealedConfig: z.string(),
    /** microseconds of the database clock; later, the caller has timed out */
    beginBy: z.int(),
    replyTo: z.string(),
  }),
})

export type IntegrationTried = z.infer<typeof integrationTried.schema>

/** The JSON reply to the caller. */
export const TrialResult = z.object({
  /** of the response; null without one */
  status: z.int().nullable(),
  /** the reason why it does not count as delivered; empty on success */
  error: z.string(),
  durationMs: z.int(),
})

export type TrialResult = z.infer<typeof TrialResult>

/** A mail with a link is due. Idempotent, because the row of a sent mail is deleted. */
export const mailDue = defineMessage('mail.due', 1, {
  consumers: ['mailer'],
  schema: z.object({ mailId: z.uuid() }),
})

/** A notification through one integration is due. */
export const notificationDue = defineMessage('notification.due', 1, {
  consumers: ['notifier'],
  schema: z.object({ notificationId: z.uuid() }),
})

/** A pack was requested and is to be composed. `replyTo` is the queue of the process whose caller waits. */
export const packRequested = defineMessage('pack.requested', 1, {
  consumers: ['pack-composer'],
  schema: z.object({ packId: z.uuid(), replyTo: z.string().optional() }),
})

/** A wallet answered a request. Idempotent: an answer that was verified or refused is not processed again. */
export const presentationReceived = defineMessage('presentation.received', 1, {
  consumers: ['presentation-verifier'],
  schema: z.object({ presentationId: z.uuid(), replyTo: z.string().optional() }),
})

// Idempotent: a finished job is not run again.
const job = z.object({ jobId: z.uuid(), replyTo: z.string().optional() })

/** Records an acceptance, after a query of the registry. */
export const acceptanceRequested = defineMessage('acceptance.requested', 1, {
  consumers: ['acceptance-recorder'],
  schema: job,
})

/** Measures the share of a supplier's sales to a buyer that was reversed. */
export const dilutionRequested = defineMessage('dilution.requested', 1, {
  consumers: ['dilution-measurer'],
  schema: job,
})

/** Verifies a business, or resolves an entity identifier. */
export const kybRequested = defineMessage('kyb.verification_requested', 1, {
  consumers: ['kyb-verifier'],
  schema: job,
})

/** Reads an uploaded loan tape or bureau file; rows that are already stored are skipped. */
export const tapeUploaded = defineMessage('tape.uploaded', 1, {
  consumers: ['tape-importer'],
  schema: z.object({ importId: z.uuid() }),
})

/** Verifies an export with the registries of foreign trade, or issues a provenance pack. */
export const provenanceRequested = defineMessage('provenance.requested', 1, {
  consumers: ['provenance-composer'],
  schema: job,
})

/** Verifies the identity of a subject: queries a registry, checks a signature or counts a presentation. */
export const identityRequested = defineMessage('identity.verification_requested', 1, {
  consumers: ['identity-verifier'],
  schema: job,
})

/** Creates the evidence objects of pool members, or freezes a cut of the pool. */
export const poolChanged = defineMessage('pool.changed', 1, {
  consumers: ['pool-builder'],
  schema: job,
})

/** Takes a snapshot of an epoch's registrations, and anchors its root if it changed. Idempotent. */
export const financingSnapshotDue = defineMessage('financing.snapshot_due', 1, {
  consumers: ['financing-registrar'],
  schema: z.object({ env: z.enum(['SANDBOX', 'PRODUCTION']), epoch: z.int() }),
})

/** Decides a check, registration, transfer or dispute of a receivable. */
export const financingRequested = defineMessage('financing.requested', 1, {
  consumers: ['financing-registrar'],
  schema: job,
})
