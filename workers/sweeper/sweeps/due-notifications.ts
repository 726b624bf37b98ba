import { notificationDue } from '#shared/contracts/notification-due.ts'
import { oldestDueNotification, takeDueNotifications } from '#shared/monitoring/notifications/store.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 500

/** Sends notifications round again that are due: retries whose time has come, and those whose notifier died. */
export const dueNotifications: Sweep = {
  name: 'due-notifications',
  everySeconds: 1,
  async run({ deps }) {
    for (let taken = PAGE; taken === PAGE; ) {
      taken = await deps.outbox.run(async (tx, enqueue) => {
        const ids = await takeDueNotifications(tx, PAGE)
        for (const notificationId of ids) await enqueue(notificationDue, { notificationId })
        return ids.length
      })
    }
    deps.metrics.notificationAge.set(await oldestDueNotification(deps.reserveDb))
  },
}
