import { z } from 'zod'

/** A request to a buyer, as who made it sees it. */
export const RequestSchema = z
  .object({
    requestId: z.uuid(),
    receivableRef: z.string(),
    state: z.enum(['OPEN', 'ANSWERED', 'LOCKED', 'EXPIRED']),
    expiresAt: z.string(),
    sandboxUrl: z.string().optional().meta({ description: 'the buyer’s link; only in the sandbox' }),
  })
  .meta({ id: 'BuyerRequest' })
