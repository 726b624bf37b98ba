import { nameOf } from '#shared/monitoring/checks/slug.ts'
import {
  type AbandonedNotice,
  abandonOldRuns,
  claimAbandonedNotices,
  countOpenRuns,
} from '#shared/monitoring/rules/run-store.ts'
import { queueLinkMail } from '#shared/tenancy/operations/link-mails.ts'
import type { Sweep } from '../sweep.ts'

/** Time after its deadline in which a run may still end (docs/spec/alerting.md#watched-runs). */
const ABANDONED_AFTER_HOURS = 72

/**
 * Abandons runs without an end, counts open runs, and sends a mail to the owners of checks with more open runs than their
 * rules allow.
 */
export const openRuns: Sweep = {
  name: 'open-runs',
  everySeconds: 60,
  async run({ deps }) {
    await abandonOldRuns(deps.reserveDb, ABANDONED_AFTER_HOURS)
    deps.metrics.openRuns.set(await countOpenRuns(deps.reserveDb))
    if (deps.config.smtpUrl === undefined) return
    await deps.outbox.run(async (tx, enqueue) => {
      for (const notice of await claimAbandonedNotices(tx))
        for (const to of notice.owners) await queueLinkMail(tx, enqueue, deps, noticeMail(notice, to))
    })
  },
}

function noticeMail(notice: AbandonedNotice, to: string) {
  const name = nameOf(notice)
  return {
    to,
    subject: `Too many open runs of "${name}"`,
    lead: `Runs of the check "${name}" start and do not end: more are open than the rules of the check allow. The oldest open runs were abandoned.`,
    action: 'Open the check',
    path: `/checks/${notice.uuid}`,
    foot: 'You get this mail at most once a day. To allow more open runs, raise run.open in the rules of the check.',
  }
}
