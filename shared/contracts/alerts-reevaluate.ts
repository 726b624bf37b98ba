import { z } from 'zod'
import { defineMessage } from './define-message.ts'

/**
 * There are flips that nobody has been told of, or incidents whose next step is due. It names none: whoever takes it
 * hands on all that there are, so a copy finds nothing left.
 */
export const alertsReevaluate = defineMessage('alerts.wake', 1, {
  consumers: ['alerter'],
  schema: z.object({}),
})
