import { alertsReevaluate } from './alerts-reevaluate.ts'
import { checkFlipped } from './check-flipped.ts'
import type { MessageContract } from './define-message.ts'
import { deliveryDue } from './delivery-due.ts'
import {
  acceptanceRequested,
  dilutionRequested,
  financingRequested,
  financingSnapshotDue,
  identityRequested,
  kybRequested,
  poolChanged,
  provenanceRequested,
  tapeUploaded,
} from './evidence-requested.ts'
import { identityStatusDue } from './identity-status-due.ts'
import { integrationDisabled } from './integration-disabled.ts'
import { integrationTried } from './integration-tried.ts'
import { mailDue } from './mail-due.ts'
import { notificationDue } from './notification-due.ts'
import { packRequested } from './pack-requested.ts'
import { presentationReceived } from './presentation-received.ts'

/** Every message of the pipeline but the ping batches (ping-batch.ts), which have queues of their own shape. */
export const messages: readonly MessageContract<unknown>[] = [
  alertsReevaluate,
  checkFlipped,
  notificationDue,
  packRequested,
  financingRequested,
  financingSnapshotDue,
  acceptanceRequested,
  dilutionRequested,
  kybRequested,
  tapeUploaded,
  provenanceRequested,
  identityRequested,
  identityStatusDue,
  presentationReceived,
  poolChanged,
  deliveryDue,
  mailDue,
  integrationDisabled,
  integrationTried,
]
