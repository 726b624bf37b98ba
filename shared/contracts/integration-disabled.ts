import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/**
 * What became of a message after it was taken (a bounce, a gateway's call) disabled its integration: people are to be
 * told. The mails of a copy have the same ids as the first ones.
 */
export const integrationDisabled = defineMessage('integration.disabled', 1, {
  consumers: ['notifier'],
  schema: z.object({ notificationId: z.uuid() }),
})
