import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { mailDue } from '#shared/contracts/worker-messages.ts'
import { renderMail } from '#shared/delivery/mail-frame.ts'
import type { AlertedCheck } from '#shared/monitoring/alerting/fact-store.ts'
import { oneLine } from '#shared/monitoring/notifications/text-parts.ts'
import { findManagers } from '#shared/monitoring/reports/report-store.ts'
import { insertMessages, type OutboxRow } from '#shared/platform/broker/outbox-store.ts'
import { insertMail } from '#shared/tenancy/mails/store.ts'
import type { WorkerDeps } from '../define-worker.ts'

/** Mails owners and managers about incidents whose policy reached no person. The caller publishes after the commit. */
export async function mailManagers(
  tx: Knex,
  { config, secrets, log }: Pick<WorkerDeps, 'config' | 'secrets' | 'log'>,
  checks: readonly Pick<AlertedCheck, 'projectId' | 'uuid' | 'name'>[],
): Promise<OutboxRow[]> {
  if (config.smtpUrl === undefined) {
    log.warn({ incidents: checks.length }, 'alert.no-person-reached')
    return []
  }
  const ids: string[] = []
  for (const [projectId, affected] of Map.groupBy(checks, (check) => check.projectId)) {
    const managers = await findManagers(tx, projectId)
    for (const check of affected) {
      for (const { email } of managers) {
        const id = randomUUID()
        const mail = { to: email, ...mailOf(check, config) }
        await insertMail(tx, { id, sealedMail: secrets.seal('mail', JSON.stringify(mail)) })
        ids.push(id)
      }
    }
  }
  return await insertMessages(
    tx,
    ids.map((mailId) => ({ message: mailDue, payload: { mailId } })),
  )
}

function mailOf(check: Pick<AlertedCheck, 'uuid' | 'name'>, config: { publicUrl: string; siteName: string }) {
  const name = oneLine(check.name) || 'A check without a name'
  const subject = `${name} is down, and no person was notified`
  const rendered = renderMail({
    siteName: config.siteName,
    headline: subject,
    tone: 'down',
    sections: [
      {
        kind: 'text',
        text: 'The steps of its policy reached no person: no person was on call, or none had a contact method that works. You get this mail because you manage the organisation.',
      },
      {
        kind: 'buttons',
        buttons: [{ label: 'Open the check', url: `${config.publicUrl}/checks/${check.uuid}` }],
      },
    ],
    unsubscribe: null,
  })
  return { subject, ...rendered, headers: { 'Auto-Submitted': 'auto-generated' } }
}
