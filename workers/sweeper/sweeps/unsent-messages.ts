import { measureOutbox } from '#shared/platform/broker/outbox-store.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 500

/** Publishes messages whose own process could not: it died, or the broker was away. */
export const unsentMessages: Sweep = {
  name: 'unsent-messages',
  everySeconds: 1,
  async run({ deps }) {
    while ((await deps.outbox.resend(PAGE)) === PAGE);
    const { rows, age } = await measureOutbox(deps.reserveDb)
    deps.metrics.outboxRows.set(rows)
    deps.metrics.outboxAge.set(age ?? 0)
  },
}
