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

/** A check, registration, transfer or dispute of a receivable is to be decided. */
export const financingRequested = defineMessage('financing.requested', 1, {
  consumers: ['financing-registrar'],
  schema: job,
})
