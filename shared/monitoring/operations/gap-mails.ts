import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { queueWrittenMail } from '../../tenancy/operations/link-mails.ts'
import type { WindowTime } from '../maintenance/window.ts'
import type { StoredSchedule } from '../on-call/schedule-store.ts'
import { gapMail } from '../on-call/shift-mails.ts'
import type { GapNotice } from '../on-call/warnings.ts'
import { claimMailOf, findManagers } from '../reports/report-store.ts'

/** Sends one mail per owner and manager about the gaps that they have not received. */
export async function mailGaps(
  tx: Knex,
  enqueue: Enqueue,
  deps: { config: Pick<Config, 'publicUrl' | 'siteName' | 'smtpUrl'>; secrets: Secrets },
  { schedule, due }: { schedule: StoredSchedule; due: readonly GapNotice[] },
): Promise<void> {
  const { publicUrl, siteName, smtpUrl } = deps.config
  if (due.length === 0 || !schedule.notices.gaps || smtpUrl === undefined) return
  for (const { userId, email } of await findManagers(tx, schedule.projectId)) {
    const gaps = new Set<WindowTime>()
    for (const { gap, key } of due) {
      const mail = { id: randomUUID(), userId, kind: 'gap', period: `${schedule.uuid} ${key}` } as const
      if (await claimMailOf(tx, mail)) gaps.add(gap)
    }
    if (gaps.size === 0) continue
    const mail = gapMail(schedule, [...gaps], { to: email, publicUrl, siteName })
    await queueWrittenMail(tx, enqueue, deps, { id: randomUUID(), ...mail })
  }
}
