import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { type AssignedCheck, findCheck } from '#shared/monitoring/checks/store.ts'
import { uniqueKey } from '#shared/monitoring/checks/unique-key.ts'
import { toCheckView } from '#shared/monitoring/checks/view.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import {
  type ChannelForSending,
  type ClaimedNotification,
  type FlipForSending,
  flipForSending,
  lastPingUntil,
} from '#shared/monitoring/notifications/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import type { NotifierDeps } from './notifier-deps.ts'

const NO_UUID = '00000000-0000-4000-8000-000000000000'

/** @returns null when the check was deleted meanwhile */
export async function buildNotification(
  deps: NotifierDeps,
  claimed: ClaimedNotification,
  channel: ChannelForSending,
): Promise<Notification | null> {
  const now = deps.now()
  const flip: FlipForSending | null =
    claimed.flipId === null
      ? { at: now, reason: claimed.status === 'down' ? 'timeout' : '', checkUuid: '', downSince: null }
      : await flipForSending(deps.db, claimed.flipId)
  if (!flip) return null
  const check = claimed.flipId === null ? testCheck() : await findCheck(deps.db, flip.checkUuid)
  if (!check) return null
  const site = deps.config.publicUrl
  const view = toCheckView(check, { base: site, version: 3, readOnly: false, now, next: nextOccurrence })
  const key = uniqueKey(check.uuid)
  return {
    id: claimed.id,
    status: claimed.status,
    reason: flip.reason,
    flipAt: flip.at,
    downFor: claimed.status === 'up' && flip.downSince !== null ? flip.at - flip.downSince : null,
    channel: { id: channel.uuid, name: channel.name, isEmailVerified: channel.isEmailVerified },
    check: { ...check, uniqueKey: key, json: JSON.stringify(view) },
    projectName: channel.projectName,
    lastPing: claimed.checkId === null ? null : await lastPingUntil(deps.db, claimed.checkId, flip.at),
    urls: {
      site,
      check: `${site}/checks/${key}`,
      unsubscribe: channel.kind === 'email' ? unsubscribeUrl(deps, channel) : null,
    },
    timeZone: check.tz,
    overview: null,
    isTest: claimed.flipId === null,
  }
}

/** Whoever holds the link may end the mails, without signing in; so it is signed. */
export function unsubscribeUrl(
  { config, secrets }: Pick<NotifierDeps, 'config' | 'secrets'>,
  channel: Pick<ChannelForSending, 'uuid'>,
): string {
  const signature = secrets.digest(`unsubscribe:${channel.uuid}`).toString('base64url')
  return `${config.publicUrl}/integrations/${channel.uuid}/unsubscribe/${signature}`
}

/** What a test message is about: no check of the project, so that nobody mistakes it for an outage. */
function testCheck(): AssignedCheck {
  return {
    ...DEFAULT_SETTINGS,
    id: 0,
    uuid: NO_UUID,
    projectId: 0,
    name: 'TEST',
    badgeKey: NO_UUID,
    channelIds: [],
    status: 'down',
    nPings: 0,
    lastPing: null,
    lastStart: null,
    lastStartRid: null,
    lastDuration: null,
    alertAfter: null,
  }
}
