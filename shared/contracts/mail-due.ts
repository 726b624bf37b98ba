import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/** A mail with a link is to be sent now. Handling it twice is harmless: a mail that was sent is no row any more. */
export const mailDue = defineMessage('mail.due', 1, {
  consumers: ['mailer'],
  schema: z.object({ mailId: z.uuid() }),
})
