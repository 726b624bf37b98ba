import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/**
 * A wallet answered a request. Handling it twice is harmless: an answer that was verified or refused is not looked at
 * again.
 */
export const presentationReceived = defineMessage('presentation.received', 1, {
  consumers: ['presentation-verifier'],
  schema: z.object({ presentationId: z.uuid(), replyTo: z.string().optional() }),
})
