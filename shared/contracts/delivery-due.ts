import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/**
 * An endpoint is owed a delivery now. Whoever handles it takes the endpoint's deliveries, one attempt after the other, for
 * as long as any is due. Which they are, rows say.
 */
export const deliveryDue = defineMessage('delivery.due', 1, {
  consumers: ['webhook-deliverer'],
  schema: z.object({ endpointId: z.uuid() }),
})
