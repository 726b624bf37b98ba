import { renderMail, unsubscribeHeaders } from '#shared/delivery/mail-frame.ts'
import type { OutgoingMail } from '#shared/delivery/mailer.ts'
import { email } from '#shared/monitoring/integrations/kinds/other.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { disabledBy } from '#shared/monitoring/notifications/callback-store.ts'
import { type IntegrationForSending, integrationsForSending } from '#shared/monitoring/notifications/sending-store.ts'
import { oneLine } from '#shared/monitoring/notifications/text-parts.ts'
import { findManagers } from '#shared/monitoring/reports/report-store.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { unsubscribeUrl } from './build-notification.ts'
import { decryptConfig, type NotifierContext } from './context.ts'

type NoticeContext = Pick<NotifierContext, 'db' | 'config' | 'secrets' | 'log' | 'mailer'>

/**
 * Sends a mail to the other e-mail integrations of the project, or to owners and managers if none of them accepts it.
 * The attempt that disabled the integration calls it once. Failures of the mail server are only logged. The mail
 * contains `reason`.
 */
export async function notifyDisabled(
  context: NoticeContext,
  { id: notificationId, integrationId }: { id: string; integrationId: number },
  disabled: IntegrationForSending,
  reason: string,
): Promise<void> {
  const { db, config, log } = context
  const disabledAddress = addressOf(context, disabled)
  const others = (await listIntegrations(db, disabled.projectId)).filter(
    ({ id, kind, disabledAt }) => kind === email.kind && disabledAt === null && id !== integrationId,
  )
  const notify = (to: string, unsubscribe: string | null, suffix: string) => {
    const mail = disabledNotice(disabled, reason, { id: `${notificationId}.${suffix}`, to, unsubscribe }, config)
    return sendMail(context, notificationId, mail)
  }
  const notified = await Promise.all(
    others.map(async (other) => {
      const to = addressOf(context, other)
      const isVerified = (await integrationsForSending(db, [other.id]))[0]?.isEmailVerified
      if (to === null || to === disabledAddress || !isVerified) return false
      return await notify(to, unsubscribeUrl(context, other), other.uuid)
    }),
  )
  const managers = notified.some(Boolean) ? [] : await findManagers(db, disabled.projectId)
  const reached = await Promise.all(
    managers
      .filter((manager) => manager.email !== disabledAddress)
      .map((manager) => notify(manager.email, null, `user.${manager.userId}`)),
  )
  log.warn(
    { notificationId, kind: disabled.kind, notified: [...notified, ...reached].filter(Boolean).length },
    'integration.disabled',
  )
}

/** For a bounce or a gateway callback. Skips an integration that was enabled again. */
export async function notifyDisabledLater(context: NoticeContext, notificationId: string): Promise<void> {
  const found = await disabledBy(context.db, notificationId)
  const [integration] = found ? await integrationsForSending(context.db, [found.integrationId]) : []
  if (!found || !integration) return
  await notifyDisabled(context, found, integration, found.error.replace(/\.$/, ''))
}

/** Returns null for other kinds and for a damaged configuration. */
function addressOf(
  context: NoticeContext,
  integration: Pick<IntegrationForSending, 'kind' | 'sealedConfig'>,
): string | null {
  const parsed = integration.kind === email.kind ? email.parse(decryptConfig(context, integration)) : null
  return parsed?.ok ? parsed.config.value : null
}

async function sendMail({ mailer, log }: NoticeContext, notificationId: string, mail: OutgoingMail): Promise<boolean> {
  if (!mailer) return false
  try {
    await mailer.send(mail)
    return true
  } catch (error) {
    log.warn({ notificationId, ...describeError(error) }, 'integration.disabled-notice-failed')
    return false
  }
}

function disabledNotice(
  disabled: IntegrationForSending,
  reason: string,
  { id, to, unsubscribe }: { id: string; to: string; unsubscribe: string | null },
  { publicUrl, siteName }: { publicUrl: string; siteName: string },
): OutgoingMail {
  const label = disabled.name === '' ? disabled.kind : `"${oneLine(disabled.name)}" (${disabled.kind})`
  const subject = `The integration ${label} was disabled`
  return {
    messageId: `disabled.${id}@${URL.parse(publicUrl)?.hostname || 'localhost'}`,
    to,
    subject,
    ...renderMail({
      siteName,
      headline: subject,
      tone: 'down',
      sections: [
        { kind: 'text', text: `It receives no alerts until you correct and enable it.` },
        {
          kind: 'facts',
          facts: [
            { label: 'Project', value: oneLine(disabled.projectName) },
            { label: 'Reason', value: oneLine(reason) },
          ],
        },
        {
          kind: 'buttons',
          buttons: [
            { label: 'Open the integrations', url: `${publicUrl}/projects/${disabled.projectUuid}/integrations` },
          ],
        },
      ],
      unsubscribe,
    }),
    headers: { ...unsubscribeHeaders(unsubscribe), 'Auto-Submitted': 'auto-generated' },
    attachments: [],
  }
}
