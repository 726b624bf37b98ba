import { delivered, type Outcome } from '#shared/delivery/outcome.ts'
import { findGroupMembers } from '#shared/monitoring/integrations/store.ts'
import type { ClaimedNotification } from '#shared/monitoring/notifications/attempt-store.ts'
import { insertNotifications } from '#shared/monitoring/notifications/store.ts'
import type { NotifierDeps } from './notifier-deps.ts'
import type { TransportContext } from './transports/transport.ts'

/**
 * Passes a group's notification on: each member gets a notification of its own for the same flip, at most one, and is
 * tried at once. A member whose attempt fails for now is retried by itself.
 */
export function createMembers(
  { db }: Pick<NotifierDeps, 'db'>,
  group: ClaimedNotification,
  projectId: number,
  attempt: (id: string) => Promise<Outcome>,
): TransportContext['sendToMembers'] {
  return async (integrationIds) => {
    const members = await findGroupMembers(db, projectId, integrationIds)
    const ids = await insertNotifications(
      db,
      { flipId: group.flipId, checkId: group.checkId, status: group.status, place: group },
      members,
    )
    const known = members.length - ids.length
    const outcomes = await Promise.all(ids.map(attempt))
    // Those that existed already were notified of this flip before, by this group or by themselves.
    return [...outcomes, ...Array.from({ length: known }, () => delivered)]
  }
}
