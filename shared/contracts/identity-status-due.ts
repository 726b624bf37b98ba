import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/**
 * The status of a credential that verified an identity is to be looked up again. Handling it twice is harmless: it is
 * looked up once more, and an identity that is suspended already stays so.
 */
export const identityStatusDue = defineMessage('identity.status_due', 1, {
  consumers: ['presentation-verifier'],
  schema: z.object({ verificationId: z.uuid() }),
})
