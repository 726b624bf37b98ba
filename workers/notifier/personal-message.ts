import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import { personalSummary } from '#shared/monitoring/notifications/personal-bundle.ts'
import { bundledNotifications } from '#shared/monitoring/notifications/personal-store.ts'
import { ackUrlOf, incidentNotification, summaryWithoutRow } from './build-notification.ts'
import type { Claim, NotifierContext } from './context.ts'

const ALERTS: ReadonlySet<string> = new Set(['first', 'repeat', 'flapping'])

/**
 * Returns one message for all notifications that the claimed one leads, with its link. Null if the check was deleted
 * meanwhile.
 */
export async function buildPersonalNotification(context: NotifierContext, claim: Claim): Promise<Notification | null> {
  const { claimed, integration } = claim
  const bundled = await bundledNotifications(context.db, claimed.id)
  const [only] = bundled
  if (!only) return null
  if (bundled.length === 1) {
    const notification = await incidentNotification(context, { claimed: { ...claimed, ...only }, integration })
    return notification && { ...notification, urls: { ...notification.urls, unsubscribe: null } }
  }
  const ackUrl = bundled.some(({ what }) => ALERTS.has(what)) ? ackUrlOf(context, claimed.id) : null
  const link = `${context.config.publicUrl}/projects/${integration.projectUuid}/incidents`
  const summary = personalSummary(bundled, ackUrl === null ? { link } : { link: ackUrl, ackUrl })
  const status = bundled.some((each) => each.status === 'down') ? 'down' : 'up'
  return summaryWithoutRow(context, { id: claimed.id, summary, status })
}
