import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/** An endpoint is owed a delivery now: one message per delivery, and one attempt per message. Which one it is, rows say. */
export const deliveryDue = defineMessage('delivery.due', 1, {
  consumers: ['webhook-deliverer'],
  schema: z.object({ endpointId: z.uuid() }),
})
