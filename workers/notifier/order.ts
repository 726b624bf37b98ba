import type { ClaimedNotification } from '#shared/monitoring/notifications/attempt-store.ts'
import { overtakeOlder, requeueWaiting, withdrawClaimed } from '#shared/monitoring/notifications/order-store.ts'
import { batched } from '#shared/platform/process/batch.ts'
import type { NotifierDeps } from './notifier-deps.ts'

const BATCH = { largest: 200, start: setImmediate }

export interface Order {
  /** Whether a claimed message may be sent now. If not, it is put back or withdrawn. */
  admit(claimed: ClaimedNotification): Promise<boolean>
  /** A message was tried: whatever waits behind it in this process is due. Other processes find out by the sweeper. */
  leave(claimed: ClaimedNotification): Promise<void>
}

/**
 * Keeps the order of messages: for one check and integration a later one never overtakes an earlier one.
 * @param putBack makes a claimed message due again after a while
 */
export function createOrder(
  { db, outbox }: Pick<NotifierDeps, 'db' | 'outbox'>,
  putBack: (id: string) => Promise<void>,
): Order {
  const behind = new Set<string>()
  const wake = batched(async (ended: readonly { checkId: number; integrationId: number }[]) => {
    outbox.publishLater(await requeueWaiting(db, ended))
    return ended
  }, BATCH)

  return {
    async admit(claimed) {
      if (claimed.isOvertaken) {
        await withdrawClaimed(db, claimed)
        return false
      }
      if (!claimed.hasOlder) return true
      const key = keyOf(claimed)
      behind.add(key)
      if (await overtakeOlder(db, claimed)) {
        behind.delete(key)
        return true
      }
      await putBack(claimed.id)
      // The older one ended while this one was put back, and woke nobody.
      if (!behind.has(key)) await requeueBehind(claimed)
      return false
    },
    async leave(claimed) {
      if (behind.delete(keyOf(claimed))) await requeueBehind(claimed)
    },
  }

  async function requeueBehind({ checkId, integrationId }: ClaimedNotification): Promise<void> {
    if (checkId !== null) await wake({ checkId, integrationId })
  }
}

function keyOf({ checkId, integrationId }: ClaimedNotification): string {
  return `${checkId}:${integrationId}`
}
