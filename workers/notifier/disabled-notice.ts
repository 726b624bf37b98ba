import type { OutgoingMail } from '#shared/delivery/mailer.ts'
import { email } from '#shared/monitoring/channels/kinds/email.ts'
import { listChannels, type StoredChannel } from '#shared/monitoring/channels/store.ts'
import type { ClaimedNotification } from '#shared/monitoring/notifications/attempt-store.ts'
import { escapeHtml, oneLine } from '#shared/monitoring/notifications/escapes.ts'
import { type ChannelForSending, channelsForSending } from '#shared/monitoring/notifications/sending-store.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { unsubscribeUrl } from './build-notification.ts'
import type { NotifierDeps } from './notifier-deps.ts'

type NoticeDeps = Pick<NotifierDeps, 'db' | 'config' | 'secrets' | 'log' | 'mailer'>

/**
 * Tells the project's other e-mail integrations that one was disabled, since it can no longer say so itself. Told once,
 * by the attempt that disabled it; a mail server that refuses is only logged. Never throws for what others do.
 * @param reason the attempt's error, which its owner may see
 */
export async function notifyDisabled(
  deps: NoticeDeps,
  claimed: Pick<ClaimedNotification, 'id' | 'channelId'>,
  disabled: ChannelForSending,
  reason: string,
): Promise<void> {
  const channels = await listChannels(deps.db, disabled.projectId)
  const others = channels.filter(
    (it) => it.kind === email.kind && it.disabledAt === null && it.id !== claimed.channelId,
  )
  const told = await Promise.all(others.map((other) => tell(deps, claimed.id, disabled, reason, other)))
  deps.log.warn(
    { notificationId: claimed.id, kind: disabled.kind, told: told.filter(Boolean).length },
    'integration.disabled',
  )
}

/** @returns whether the mail server took it */
async function tell(
  deps: NoticeDeps,
  notificationId: string,
  disabled: ChannelForSending,
  reason: string,
  other: StoredChannel,
): Promise<boolean> {
  try {
    const parsed = email.parse(JSON.parse(deps.secrets.open('integration', other.sealedConfig)))
    const isVerified = (await channelsForSending(deps.db, [other.id]))[0]?.isEmailVerified
    if (!deps.mailer || !parsed.ok || !isVerified) return false
    const id = `disabled.${notificationId}.${other.uuid}`
    const notice = { id, to: parsed.config.value, unsubscribe: unsubscribeUrl(deps, other) }
    await deps.mailer.send(disabledNotice(disabled, reason, notice, deps.config))
    return true
  } catch (error) {
    deps.log.warn({ notificationId, ...describeError(error) }, 'integration.disabled-notice-failed')
    return false
  }
}

function disabledNotice(
  disabled: ChannelForSending,
  reason: string,
  { id, to, unsubscribe }: { id: string; to: string; unsubscribe: string },
  { publicUrl, siteName }: { publicUrl: string; siteName: string },
): OutgoingMail {
  const label = disabled.name === '' ? disabled.kind : `"${oneLine(disabled.name)}" (${disabled.kind})`
  const lines = [
    `The integration ${label} of the project "${oneLine(disabled.projectName)}" was disabled: ${reason}.`,
    'It is notified of no further changes until somebody corrects and enables it.',
    publicUrl,
  ]
  return {
    messageId: `${id}@${URL.parse(publicUrl)?.hostname || 'localhost'}`,
    to,
    subject: `The integration ${label} was disabled`,
    text: `${lines.join('\n\n')}\n\n--\n${siteName}\nUnsubscribe: ${unsubscribe}\n`,
    html: `<!doctype html><html lang="en"><body>${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n')}</body></html>\n`,
    headers: {
      'List-Unsubscribe': `<${unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'Auto-Submitted': 'auto-generated',
    },
    attachments: [],
  }
}
