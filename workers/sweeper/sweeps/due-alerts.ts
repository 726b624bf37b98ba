import { alertsReevaluate } from '#shared/contracts/alerts-reevaluate.ts'
import { isBundleDue } from '#shared/monitoring/alerting/bundle-store.ts'
import { countWaitingFlips } from '#shared/monitoring/alerting/flip-store.ts'
import { oldestDueIncident } from '#shared/monitoring/alerting/incident-store.ts'
import { isPendingNotificationDue } from '#shared/monitoring/alerting/pending-notification-store.ts'
import type { Sweep } from '../sweep.ts'

/** The metric says so many, or that there are at least so many. */
const MAX_COUNTED = 1_000

/** Wakes the alerter while there is anything for it to do: its own message was lost, or it died over it. */
export const dueAlerts: Sweep = {
  name: 'due-alerts',
  everySeconds: 1,
  async run({ deps }) {
    const waiting = await countWaitingFlips(deps.reserveDb, MAX_COUNTED)
    deps.metrics.unprocessedFlips.set(waiting)
    const overdue = await oldestDueIncident(deps.reserveDb)
    deps.metrics.alertsOldestDue.set(overdue ?? 0)
    const isDue = waiting > 0 || overdue !== null || (await isBundleDue(deps.reserveDb))
    if (isDue || (await isPendingNotificationDue(deps.reserveDb)))
      await deps.outbox.run((_tx, enqueue) => enqueue(alertsReevaluate, {}))
  },
}
