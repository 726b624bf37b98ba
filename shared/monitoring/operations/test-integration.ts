import { notificationDue } from '../../contracts/notification-due.ts'
import type { Outbox } from '../../platform/broker/outbox.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { StoredIntegration } from '../integrations/store.ts'
import { insertNotifications } from '../notifications/store.ts'
import type { Project } from '../projects/store.ts'

/**
 * Sends a test message through an integration, as any other is sent: of an outage, or of a recovery.
 * @returns the id of its notification
 */
export async function testIntegration(
  actor: Actor,
  { project, channel, status = 'down' }: { project: Project; channel: StoredIntegration; status?: 'up' | 'down' },
  deps: { outbox: Pick<Outbox, 'run'> },
): Promise<string> {
  return await deps.outbox.run(async (tx, enqueue) => {
    const test = { flipId: null, checkId: null, status }
    const [notificationId] = await insertNotifications(tx, test, [channel.id])
    if (notificationId === undefined) throw new Error('the test message was not stored')
    await enqueue(notificationDue, { notificationId })
    const { organisationId } = project
    const target = channel.name || channel.kind
    await insertActorAudit(tx, actor, { organisationId, action: 'integration.tested', target })
    return notificationId
  })
}
