import { nameOf } from '#shared/monitoring/checks/slug.ts'
import {
  type AbandonedNotice,
  abandonOldRuns,
  claimAbandonedNotices,
  countOpenRuns,
} from '#shared/monitoring/rules/run-store.ts'
import { queueLinkMail } from '#shared/tenancy/operations/link-mails.ts'
import type { Sweep } from '../sweep.ts'

/** Until then the end of a run is expected (docs/spec/alerting.md#watched-runs). */
const ABANDONED_AFTER_HOURS = 72

/** Notifies owners if runs ended because there were too many. */
export const openRuns: Sweep = {
  name: 'open-runs',
  everySeconds: 60,
  async run({ deps }) {
    await abandonOldRuns(deps.reserveDb, ABANDONED_AFTER_HOURS)
    deps.metrics.openRuns.set(await countOpenRuns(deps.reserveDb))
    if (deps.config.smtpUrl === undefined) return
    await deps.outbox.run(async (tx, enqueue) => {
      for (const notice of await claimAbandonedNotices(tx))
        for (const to of notice.owners) await queueLinkMail(tx, enqueue, deps, mailOf(notice, to))
    })
  },
}

function mailOf(notice: AbandonedNotice, to: string) {
  const name = nameOf(notice)
  return {
    to,
    subject: `More runs of "${name}" are open than its rules allow`,
    lead: `Runs of the check "${name}" start and do not end. The oldest ones were abandoned; their result is unknown.`,
    action: 'Open the check',
    path: `/checks/${notice.uuid}`,
    foot: 'You get this mail at most once a day. Raise "open" in the rules of the check if so many may run at once.',
  }
}
