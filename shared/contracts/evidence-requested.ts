import { z } from 'zod'
import { defineMessage } from './define-message.ts'

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
