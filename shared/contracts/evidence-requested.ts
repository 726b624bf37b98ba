import { z } from 'zod'
import { defineMessage } from './define-message.ts'

// Handling one twice is harmless: a job that is done is not done again.
const job = z.object({ jobId: z.uuid(), replyTo: z.string().optional() })

/** A check, registration, transfer or dispute of a receivable is to be decided. */
export const financingRequested = defineMessage('financing.requested', 1, {
  consumers: ['financing-registrar'],
  schema: job,
})
