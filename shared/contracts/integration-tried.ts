import { z } from 'zod'
import { defineMessage } from './define-message.ts'

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
