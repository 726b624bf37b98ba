import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/** One notification through one channel is to be tried now. */
export const notificationDue = defineMessage('notification.due', 1, {
  consumers: ['notifier'],
  schema: z.object({ notificationId: z.uuid() }),
})
