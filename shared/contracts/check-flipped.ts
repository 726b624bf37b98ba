import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/** A check changed its stored status, and its integrations may have to be told. */
export const checkFlipped = defineMessage('check.flipped', 1, {
  consumers: ['notifier'],
  schema: z.object({ flipId: z.int() }),
})
