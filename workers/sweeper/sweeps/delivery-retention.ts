import { toDate } from '#shared/time.ts'
import { pruneAnswers, pruneDeliveries } from '#shared/webhooks/retention-store.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 1000

/** Removes deliveries, and what endpoints answered, that are past their time; a page at a time. */
export const deliveryRetention: Sweep = {
  name: 'delivery-retention',
  everySeconds: 600,
  async run({ deps, now }) {
    const at = toDate(now)
    while ((await pruneAnswers(deps.reserveDb, at, PAGE)) === PAGE);
    while ((await pruneDeliveries(deps.reserveDb, at, PAGE)) === PAGE);
  },
}
