import { sendNextReminder, sendNextReport } from '#shared/monitoring/operations/send-reports.ts'
import { setFirstReminders } from '#shared/monitoring/reports/report-store.ts'
import type { Sweep } from '../sweep.ts'

/** Writes the reports and reminders that people asked for and that are due; the mailer sends them. */
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
