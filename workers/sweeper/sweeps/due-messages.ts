import { alertsReevaluate, deliveryDue, mailDue, notificationDue } from '#shared/contracts/worker-messages.ts'
import { isBundleDue } from '#shared/monitoring/alerting/bundle-store.ts'
import { countWaitingFlips } from '#shared/monitoring/alerting/flip-store.ts'
import { oldestDueIncident } from '#shared/monitoring/alerting/incident-store.ts'
import { isPendingNotificationDue } from '#shared/monitoring/alerting/pending-notification-store.ts'
import { claimDueNotifications, oldestDueNotification } from '#shared/monitoring/notifications/store.ts'
import { sendNextReminder, sendNextReport } from '#shared/monitoring/operations/reports.ts'
import { setFirstReminders } from '#shared/monitoring/reports/report-store.ts'
import { measureOutbox } from '#shared/platform/broker/outbox-store.ts'
import { anchorAgentCalls } from '#shared/risk/operations/anchor-agent-calls.ts'
import { claimDueMails } from '#shared/tenancy/mails/store.ts'
import { toDate } from '#shared/time.ts'
import { endDeliveriesOfInactive } from '#shared/webhooks/claim-store.ts'
import { inactiveWithOpen, readBacklog, takeDueDeliveries } from '#shared/webhooks/fan-out-store.ts'
import { SLOTS } from '#shared/webhooks/slots.ts'
import { deliveryMetrics } from '../../webhook-deliverer/batches.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 1000

/** Publishes deliveries whose retry is due or whose deliverer crashed. */
export const dueDeliveries: Sweep = {
  name: 'due-deliveries',
  everySeconds: 1,
  work: 'deliveries',
  async run({ deps, now }) {
    const at = toDate(now)
    for (let taken = PAGE; taken === PAGE; ) {
      taken = await deps.outbox.run(async (tx, enqueue) => {
        const endpointIds = await takeDueDeliveries(tx, at, SLOTS, PAGE)
        for (const endpointId of endpointIds) await enqueue(deliveryDue, { endpointId })
        return endpointIds.length
      })
    }
    await endDeliveriesOfInactive(deps.reserveDb, await inactiveWithOpen(deps.reserveDb), now)
    const backlog = await readBacklog(deps.reserveDb, at)
    const metrics = deliveryMetrics(deps.metrics.registry)
    metrics.due.set(backlog.due)
    metrics.oldest.set(backlog.oldestSeconds)
  },
}

const DUE_MAILS_PAGE = 500

/** Publishes mails whose retry is due or whose mailer crashed. */
export const dueMails: Sweep = {
  name: 'due-mails',
  everySeconds: 1,
  work: 'mails',
  async run({ deps }) {
    for (let taken = DUE_MAILS_PAGE; taken === DUE_MAILS_PAGE; ) {
      taken = await deps.outbox.run(async (tx, enqueue) => {
        const ids = await claimDueMails(tx, DUE_MAILS_PAGE)
        for (const mailId of ids) await enqueue(mailDue, { mailId })
        return ids.length
      })
    }
  },
}

const DUE_NOTIFICATIONS_PAGE = 500

/** Publishes notifications whose retry is due or whose notifier crashed. */
export const dueNotifications: Sweep = {
  name: 'due-notifications',
  everySeconds: 1,
  work: 'notifications',
  async run({ deps }) {
    for (let taken = DUE_NOTIFICATIONS_PAGE; taken === DUE_NOTIFICATIONS_PAGE; ) {
      taken = await deps.outbox.run(async (tx, enqueue) => {
        const ids = await claimDueNotifications(tx, DUE_NOTIFICATIONS_PAGE)
        for (const notificationId of ids) await enqueue(notificationDue, { notificationId })
        return ids.length
      })
    }
    deps.metrics.notificationAge.set(await oldestDueNotification(deps.reserveDb))
  },
}

const MAX_COUNTED = 1_000

/** Publishes the alerter's message again, because the earlier one may be lost or the alerter may have crashed. */
export const dueAlerts: Sweep = {
  name: 'due-alerts',
  everySeconds: 1,
  work: 'alerts',
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

export const dueReports: Sweep = {
  name: 'due-reports',
  everySeconds: 10,
  async run({ deps, now }) {
    if (deps.config.smtpUrl === undefined) return
    await setFirstReminders(deps.reserveDb)
    for (const send of [sendNextReport, sendNextReminder]) {
      while (await deps.outbox.run((tx, enqueue) => send(tx, enqueue, deps, now)));
    }
  },
}

/** Anchors the calls of agents of a UTC day after its end. */
export const agentDigests: Sweep = {
  name: 'agent-digests',
  everySeconds: 60,
  async run({ deps, now }) {
    await anchorAgentCalls(deps.reserveDb, now)
  },
}

const UNSENT_MESSAGES_PAGE = 500

/** Publishes outbox messages that their process could not publish. */
export const unsentMessages: Sweep = {
  name: 'unsent-messages',
  everySeconds: 1,
  work: 'messages',
  async run({ deps }) {
    while ((await deps.outbox.resend(UNSENT_MESSAGES_PAGE)) === UNSENT_MESSAGES_PAGE);
    const { rows, age } = await measureOutbox(deps.reserveDb)
    deps.metrics.outboxRows.set(rows)
    deps.metrics.outboxAge.set(age ?? 0)
  },
}
