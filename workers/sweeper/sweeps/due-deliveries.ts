import { deliveryDue } from '#shared/contracts/delivery-due.ts'
import { toDate } from '#shared/time.ts'
import { settleInactive } from '#shared/webhooks/claim-store.ts'
import { inactiveWithOpen, readBacklog, takeDueDeliveries } from '#shared/webhooks/fan-out-store.ts'
import { SLOTS } from '#shared/webhooks/slots.ts'
import { deliveryMetrics } from '../../webhook-deliverer/metrics.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 1000

/** Sends deliveries round again that are due: retries whose time has come, and those whose deliverer died. */
export const dueDeliveries: Sweep = {
  name: 'due-deliveries',
  everySeconds: 1,
  async run({ deps, now }) {
    const at = toDate(now)
    for (let taken = PAGE; taken === PAGE; ) {
      taken = await deps.outbox.run(async (tx, enqueue) => {
        const endpointIds = await takeDueDeliveries(tx, at, SLOTS, PAGE)
        for (const endpointId of endpointIds) await enqueue(deliveryDue, { endpointId })
        return endpointIds.length
      })
    }
    await settleInactive(deps.reserveDb, await inactiveWithOpen(deps.reserveDb), now)
    const backlog = await readBacklog(deps.reserveDb, at)
    const metrics = deliveryMetrics(deps.metrics.registry)
    metrics.due.set(backlog.due)
    metrics.oldest.set(backlog.oldestSeconds)
  },
}
