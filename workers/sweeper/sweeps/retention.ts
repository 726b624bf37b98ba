import { pruneBeats } from '#shared/monitoring/beats/store.ts'
import { pruneStoredMails } from '#shared/monitoring/pings/mail-store.ts'
import { pruneStarts } from '#shared/platform/broker/redelivery-guard.ts'
import { execute } from '#shared/platform/database/sql.ts'
import { pruneAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { pruneKeys } from '#shared/tenancy/idempotency/store.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 5_000
/** Days for which a message is recognised as a copy; longer than any message can be under way. */
const DEDUPLICATION_DAYS = 7

/**
 * Removes what is past its time, a page at a time, away from the hot path. Flips stay for at least the current month
 * and the two before it; pings are bounded where they are written and need no sweep.
 */
export const retention: Sweep = {
  name: 'retention',
  everySeconds: 300,
  async run({ deps }) {
    const db = deps.reserveDb
    await untilEmpty(() => pruneKeys(db, PAGE))
    await untilEmpty(() =>
      execute(
        db,
        `DELETE FROM flips WHERE id IN (
           SELECT id FROM flips WHERE at < now() - make_interval(days => ?::int) ORDER BY at LIMIT ?)`,
        [deps.config.flipRetentionDays, PAGE],
      ),
    )
    await execute(db, 'DELETE FROM ping_streams WHERE updated_at < now() - make_interval(days => ?::int)', [
      DEDUPLICATION_DAYS,
    ])
    await pruneStoredMails(db, DEDUPLICATION_DAYS)
    await pruneStarts(db)
    await pruneBeats(db, deps.config.flipRetentionDays)
    await untilEmpty(() => pruneAudit(db, deps.config.auditRetentionDays, PAGE))
    await execute(db, "DELETE FROM rate_limits WHERE updated_at < now() - interval '1 hour'")
  },
}

async function untilEmpty(prune: () => Promise<number>): Promise<void> {
  while ((await prune()) === PAGE);
}
