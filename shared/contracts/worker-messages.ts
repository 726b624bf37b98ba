import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/** The message names no flip: the consumer processes all of them, so a duplicate finds nothing. */
export const alertsReevaluate = defineMessage('alerts.wake', 1, {
  consumers: ['alerter'],
  schema: z.object({}),
})

/**
 * A message about a contact method itself, or a notice about a shift. A duplicate of a code or such a notice finds it sent; a
 * late duplicate of a test or of `disabled` sends nothing.
 */
export const contactMessageDue = defineMessage('contact.message_due', 1, {
  consumers: ['notifier'],
  schema: z.object({
    /** for a code or a notice its id */
    messageId: z.uuid(),
    methodId: z.uuid(),
    what: z.enum(['code', 'test', 'disabled', 'notice']),
    /** the code, or the text of `disabled` */
    sealedText: z.string(),
    /** microseconds of the database clock */
    beginBy: z.int(),
    replyTo: z.string().optional(),
  }),
})

export type ContactMessage = z.infer<typeof contactMessageDue.schema>

/** The consumer sends the due deliveries one after the other, as stored in rows. */
export const deliveryDue = defineMessage('delivery.due', 1, {
  consumers: ['webhook-deliverer'],
  schema: z.object({ endpointId: z.uuid() }),
})

/** Idempotent: a repeated check leaves a suspended identity suspended. */
export const identityStatusDue = defineMessage('identity.status_due', 1, {
  consumers: ['presentation-verifier'],
  schema: z.object({ verificationId: z.uuid() }),
})

/** A later result (a bounce, a gateway callback) disabled it. Mails of a duplicate have the same ids. */
export const integrationDisabled = defineMessage('integration.disabled', 1, {
  consumers: ['notifier'],
  schema: z.object({ notificationId: z.uuid() }),
})

/** Contains the sealed configuration. An early duplicate reports the same test, a late one sends nothing. */
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

export const TrialResult = z.object({
  status: z.int().nullable(),
  error: z.string(),
  durationMs: z.int(),
})

export type TrialResult = z.infer<typeof TrialResult>

/** A mail with a link is due. Idempotent, because the row of a sent mail is deleted. */
export const mailDue = defineMessage('mail.due', 1, {
  consumers: ['mailer'],
  schema: z.object({ mailId: z.uuid() }),
})

export const notificationDue = defineMessage('notification.due', 1, {
  consumers: ['notifier'],
  schema: z.object({ notificationId: z.uuid() }),
})

/** `replyTo` is the queue of the process whose caller waits. */
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

export const acceptanceRequested = defineMessage('acceptance.requested', 1, {
  consumers: ['acceptance-recorder'],
  schema: job,
})

export const dilutionRequested = defineMessage('dilution.requested', 1, {
  consumers: ['dilution-measurer'],
  schema: job,
})

export const kybRequested = defineMessage('kyb.verification_requested', 1, {
  consumers: ['kyb-verifier'],
  schema: job,
})

/** Skips rows that are already stored. */
export const tapeUploaded = defineMessage('tape.uploaded', 1, {
  consumers: ['tape-importer'],
  schema: z.object({ importId: z.uuid() }),
})

export const provenanceRequested = defineMessage('provenance.requested', 1, {
  consumers: ['provenance-composer'],
  schema: job,
})

export const identityRequested = defineMessage('identity.verification_requested', 1, {
  consumers: ['identity-verifier'],
  schema: job,
})

export const poolChanged = defineMessage('pool.changed', 1, {
  consumers: ['pool-builder'],
  schema: job,
})

/** Takes a snapshot of an epoch's registrations, and anchors its root if it changed. Idempotent. */
export const financingSnapshotDue = defineMessage('financing.snapshot_due', 1, {
  consumers: ['financing-registrar'],
  schema: z.object({ env: z.enum(['SANDBOX', 'PRODUCTION']), epoch: z.int() }),
})

export const financingRequested = defineMessage('financing.requested', 1, {
  consumers: ['financing-registrar'],
  schema: job,
})
