import { alertsWake } from './alerts-wake.ts'
import { checkFlipped } from './check-flipped.ts'
import type { MessageContract } from './define-message.ts'
import { deliveryDue } from './delivery-due.ts'
import { acceptanceRequested, dilutionRequested, financingRequested, kybRequested } from './evidence-requested.ts'
import { mailDue } from './mail-due.ts'
import { notificationDue } from './notification-due.ts'
import { packRequested } from './pack-requested.ts'

/** Every message of the pipeline but the ping batches (ping-batch.ts), which have queues of their own shape. */
export const messages: readonly MessageContract<unknown>[] = [
  alertsWake,
  checkFlipped,
  notificationDue,
  packRequested,
  financingRequested,
  acceptanceRequested,
  dilutionRequested,
  kybRequested,
  deliveryDue,
  mailDue,
]
