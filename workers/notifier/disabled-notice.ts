import type { OutgoingMail } from '#shared/delivery/mailer.ts'
import { email } from '#shared/monitoring/integrations/kinds/other.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import type { ClaimedNotification } from '#shared/monitoring/notifications/attempt-store.ts'
import { disabledBy } from '#shared/monitoring/notifications/callback-store.ts'
import { type IntegrationForSending, integrationsForSending } from '#shared/monitoring/notifications/sending-store.ts'
import { escapeHtml, oneLine } from '#shared/monitoring/notifications/text-parts.ts'
import { findManagers } from '#shared/monitoring/reports/report-store.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { unsubscribeUrl } from './build-notification.ts'
import { decryptConfig } from './decrypt-config.ts'
import type { NotifierDeps } from './notifier-deps.ts'

type NoticeDeps = Pick<NotifierDeps, 'db' | 'config' | 'secrets' | 'log' | 'mailer'>

/**
 * Tells the project's other e-mail integrations that one was disabled, since it can no longer say so itself; where none of
 * them can be told, the account's owners and managers. Told once, by whoever disabled it; a mail server that refuses is
 * only logged. Never throws for what others do.
 * @param reason the error of the attempt, which its owner may see
 */
export async function notifyDisabled(
  deps: NoticeDeps,
  claimed: Pick<ClaimedNotification, 'id' | 'integrationId'>,
  disabled: IntegrationForSending,
  reason: string,
): Promise<void> {
  const lost = addressOf(deps, disabled)
  const channels = await listIntegrations(deps.db, disabled.projectId)
  const others = channels.filter(
    (it) => it.kind === email.kind && it.disabledAt === null && it.id !== claimed.integrationId,
  )
  const notice = (to: string, unsubscribe: string | null, id: string) =>
    notify(
      deps,
      claimed.id,
      disabledNotice(disabled, reason, { id: `${claimed.id}.${id}`, to, unsubscribe }, deps.config),
    )
  const notified = await Promise.all(
    others.map(async (other) => {
      const to = addressOf(deps, other)
      const isVerified = (await integrationsForSending(deps.db, [other.id]))[0]?.isEmailVerified
      if (to === null || to === lost || !isVerified) return false
      return await notice(to, unsubscribeUrl(deps, other), other.uuid)
    }),
  )
  const managers = notified.some(Boolean) ? [] : await findManagers(deps.db, disabled.projectId)
  const reached = await Promise.all(
    managers.filter((it) => it.email !== lost).map((it) => notice(it.email, null, `user.${it.userId}`)),
  )
  deps.log.warn(
    { notificationId: claimed.id, kind: disabled.kind, notified: [...notified, ...reached].filter(Boolean).length },
    'integration.disabled',
  )
}

/** The same for an integration that what became of a message disabled later, unless somebody has enabled it since. */
export async function notifyDisabledLater(deps: NoticeDeps, notificationId: string): Promise<void> {
  const found = await disabledBy(deps.db, notificationId)
  const [channel] = found ? await integrationsForSending(deps.db, [found.integrationId]) : []
  if (!found || !channel) return
  await notifyDisabled(deps, found, channel, found.error.replace(/\.$/, ''))
}

/** The address of an e-mail integration; null for other kinds, and for one that cannot be read. */
function addressOf(deps: NoticeDeps, channel: Pick<IntegrationForSending, 'kind' | 'sealedConfig'>): string | null {
  const parsed = channel.kind === email.kind ? email.parse(decryptConfig(deps, channel)) : null
  return parsed?.ok ? parsed.config.value : null
}

/** @returns whether the mail server took it */
async function notify({ mailer, log }: NoticeDeps, notificationId: string, mail: OutgoingMail): Promise<boolean> {
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
  const lines = [
    `The integration ${label} of the project "${oneLine(disabled.projectName)}" was disabled: ${reason}.`,
    'It is notified of no further changes until somebody corrects and enables it.',
    publicUrl,
  ]
  return {
    messageId: `disabled.${id}@${URL.parse(publicUrl)?.hostname || 'localhost'}`,
    to,
    subject: `The integration ${label} was disabled`,
    text: `${lines.join('\n\n')}\n\n--\n${siteName}\n${unsubscribe === null ? '' : `Unsubscribe: ${unsubscribe}\n`}`,
    html: `<!doctype html><html lang="en"><body>${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n')}</body></html>\n`,
    headers: {
      ...(unsubscribe !== null && {
        'List-Unsubscribe': `<${unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
      'Auto-Submitted': 'auto-generated',
    },
    attachments: [],
  }
}
