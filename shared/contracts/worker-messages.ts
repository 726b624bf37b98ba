import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/**
 * There are flips that nobody has been told of, or incidents whose next step is due. It names none: whoever takes it
 * hands on all that there are, so a copy finds nothing left.
 */
export const alertsReevaluate = defineMessage('alerts.wake', 1, {
  consumers: ['alerter'],
  schema: z.object({}),
})

/**
 * An endpoint is owed a delivery now. Whoever handles it takes the endpoint's deliveries, one attempt after the other, for
 * as long as any is due. Which they are, rows say.
 */
export const deliveryDue = defineMessage('delivery.due', 1, {
  consumers: ['webhook-deliverer'],
  schema: z.object({ endpointId: z.uuid() }),
})

/**
 * The status of a credential that verified an identity is to be looked up again. Handling it twice is harmless: it is
 * looked up once more, and an identity that is suspended already stays so.
 */
export const identityStatusDue = defineMessage('identity.status_due', 1, {
  consumers: ['presentation-verifier'],
  schema: z.object({ verificationId: z.uuid() }),
})

/**
 * What became of a message after it was taken (a bounce, a gateway's call) disabled its integration: people are to be
 * told. The mails of a copy have the same ids as the first ones.
 */
export const integrationDisabled = defineMessage('integration.disabled', 1, {
  consumers: ['notifier'],
  schema: z.object({ notificationId: z.uuid() }),
})

/**
 * Somebody tries a webhook that is not stored: its configuration travels with the message, sealed, since it can be read
 * nowhere else. Handling it twice is harmless: a copy comes while somebody waits, and says that it is the same test, or
 * it comes too late and sends nothing.
 */
export const integrationTried = defineMessage('integration.tried', 1, {
  consumers: ['notifier'],
  schema: z.object({
    trialId: z.uuid(),
    /** who waits among others for the same target */
    projectId: z.int(),
    status: z.enum(['up', 'down']),
    sealedConfig: z.string(),
    /** microseconds of the database's clock: later, whoever waited has gone */
    beginBy: z.int(),
    replyTo: z.string(),
  }),
})

export type IntegrationTried = z.infer<typeof integrationTried.schema>

/** What is replied to who waits, as JSON. */
export const TrialResult = z.object({
  /** of the answer; null when there was none */
  status: z.int().nullable(),
  /** why it does not count as delivered; empty when it does */
  error: z.string(),
  durationMs: z.int(),
})

export type TrialResult = z.infer<typeof TrialResult>

/** A mail with a link is to be sent now. Handling it twice is harmless: a mail that was sent is no row any more. */
export const mailDue = defineMessage('mail.due', 1, {
  consumers: ['mailer'],
  schema: z.object({ mailId: z.uuid() }),
})

/** One notification through one channel is to be tried now. */
export const notificationDue = defineMessage('notification.due', 1, {
  consumers: ['notifier'],
  schema: z.object({ notificationId: z.uuid() }),
})

/** A pack was asked for and is to be composed. `replyTo` is the queue of a process whose caller waits for it. */
export const packRequested = defineMessage('pack.requested', 1, {
  consumers: ['pack-composer'],
  schema: z.object({ packId: z.uuid(), replyTo: z.string().optional() }),
})

/**
 * A wallet answered a request. Handling it twice is harmless: an answer that was verified or refused is not looked at
 * again.
 */
export const presentationReceived = defineMessage('presentation.received', 1, {
  consumers: ['presentation-verifier'],
  schema: z.object({ presentationId: z.uuid(), replyTo: z.string().optional() }),
})

// Handling one twice is harmless: a job that is done is not done again.
const job = z.object({ jobId: z.uuid(), replyTo: z.string().optional() })

/** An acceptance is to be recorded: the registry is asked first. */
export const acceptanceRequested = defineMessage('acceptance.requested', 1, {
  consumers: ['acceptance-recorder'],
  schema: job,
})

/** How much of a supplier's sales to a buyer was taken back is to be measured. */
export const dilutionRequested = defineMessage('dilution.requested', 1, {
  consumers: ['dilution-measurer'],
  schema: job,
})

/** A business is to be verified, or an entity identifier looked up. */
export const kybRequested = defineMessage('kyb.verification_requested', 1, {
  consumers: ['kyb-verifier'],
  schema: job,
})

/** A tape of loans or a bureau file was uploaded, and is to be read: what is stored of it is not stored again. */
export const tapeUploaded = defineMessage('tape.uploaded', 1, {
  consumers: ['tape-importer'],
  schema: z.object({ importId: z.uuid() }),
})

/** An export is to be verified with the registries of foreign trade, or a provenance pack to be issued. */
export const provenanceRequested = defineMessage('provenance.requested', 1, {
  consumers: ['provenance-composer'],
  schema: job,
})

/** A subject's identity is to be verified: a registry asked, a signature checked, a presentation counted. */
export const identityRequested = defineMessage('identity.verification_requested', 1, {
  consumers: ['identity-verifier'],
  schema: job,
})

/** Members of a pool are to get their evidence objects, or a cut of it is to be frozen. */
export const poolChanged = defineMessage('pool.changed', 1, {
  consumers: ['pool-builder'],
  schema: job,
})

/** What is registered in an epoch is to be looked at, and its root anchored if it changed. Twice is harmless. */
export const financingSnapshotDue = defineMessage('financing.snapshot_due', 1, {
  consumers: ['financing-registrar'],
  schema: z.object({ env: z.enum(['SANDBOX', 'PRODUCTION']), epoch: z.int() }),
})

/** A check, registration, transfer or dispute of a receivable is to be decided. */
export const financingRequested = defineMessage('financing.requested', 1, {
  consumers: ['financing-registrar'],
  schema: job,
})
