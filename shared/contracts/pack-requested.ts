import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/** A pack was asked for and is to be composed. `replyTo` is the queue of a process whose caller waits for it. */
export const packRequested = defineMessage('pack.requested', 1, {
  consumers: ['pack-composer'],
  schema: z.object({ packId: z.uuid(), replyTo: z.string().optional() }),
})
