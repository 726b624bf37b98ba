import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { listShownChecks } from '#shared/monitoring/checks/shown-store.ts'
import { nameOf } from '#shared/monitoring/checks/slug.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { email } from '#shared/monitoring/integrations/kinds/other.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import type { IntegrationForSending } from '#shared/monitoring/notifications/sending-store.ts'
import { findReader } from '#shared/monitoring/reports/report-store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { decryptConfig } from './decrypt-config.ts'
import type { NotifierDeps } from './notifier-deps.ts'

/** Lines of an overview; what is down stands first. */
const MAX_LINES = 200
const ORDER: readonly ShownStatus[] = ['down', 'grace', 'up', 'new', 'paused']

/**
 * What a mail tells a member of the project and nobody else: how all of its checks are, and times in the zone that the
 * member chose. @returns null for readers who are not known to be members
 */
export async function readerOf(
  deps: Pick<NotifierDeps, 'db' | 'secrets' | 'log' | 'now'>,
  channel: IntegrationForSending,
): Promise<(Pick<Notification, 'overview'> & { timeZone: string | null }) | null> {
  if (channel.kind !== email.kind || !channel.isEmailVerified) return null
  const parsed = email.parse(decryptConfig(deps, channel))
  const reader = parsed.ok ? await findReader(deps.db, channel.projectId, parsed.config.value) : null
  if (!reader) return null
  const now = deps.now()
  const lines = (await listShownChecks(deps.db, channel.projectId)).map((check) => ({
    label: nameOf(check),
    status: shownStatus(check, now, nextOccurrence),
    lastPingAt: check.lastPing,
  }))
  const ordered = lines.sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
  return { overview: ordered.slice(0, MAX_LINES), timeZone: reader.tz }
}
