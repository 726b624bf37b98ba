import { query } from '#shared/platform/database/sql.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 500

/** Publishes messages whose own process could not: it died, or the broker was away. */
export const unsentMessages: Sweep = {
  name: 'unsent-messages',
  everySeconds: 1,
  async run({ deps }) {
    while ((await deps.outbox.resend(PAGE)) === PAGE);
    const [outbox] = await query<{ rows: number; age: number | null }>(
      deps.reserveDb,
      'SELECT count(*) AS rows, extract(epoch FROM now() - min(created_at))::float AS age FROM outbox',
    )
    deps.metrics.outboxRows.set(outbox?.rows ?? 0)
    deps.metrics.outboxAge.set(outbox?.age ?? 0)
  },
}
