import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/**
 * A check changed its stored status. Sent by the release before, which had a message for each flip: it wakes the alerter,
 * for which a copy is nothing new.
 */
export const checkFlipped = defineMessage('check.flipped', 1, {
  consumers: ['notifier'],
  schema: z.object({ flipId: z.int() }),
})
