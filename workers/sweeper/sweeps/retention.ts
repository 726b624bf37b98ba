import { pruneBundles } from '#shared/monitoring/alerting/bundle-store.ts'
import { pruneDecisions } from '#shared/monitoring/alerting/decision-store.ts'
import { countOpenIncidents, pruneIncidents } from '#shared/monitoring/alerting/incident-store.ts'
import { pruneGaps } from '#shared/monitoring/availability/gap-store.ts'
import { pruneHeartbeats } from '#shared/monitoring/availability/heartbeat-store.ts'
import { pruneFlips } from '#shared/monitoring/flips/store.ts'
import { pruneWindows } from '#shared/monitoring/maintenance/window-store.ts'
import { pruneStoredMails } from '#shared/monitoring/pings/mail-store.ts'
import { pruneStreams } from '#shared/monitoring/pings/record-store.ts'
import { pruneMails } from '#shared/monitoring/reports/report-store.ts'
import { pruneStatements } from '#shared/monitoring/statements/statement-store.ts'
import { pruneStarts } from '#shared/platform/broker/redelivery-store.ts'
import { forgetMailboxes } from '#shared/risk/acceptance/buyer-request-store.ts'
import { pruneCounters } from '#shared/risk/metering/counter-store.ts'
import { pruneAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { pruneAgentCalls } from '#shared/tenancy/agents/digest-store.ts'
import { pruneKeys } from '#shared/tenancy/idempotency/store.ts'
import { pruneBuckets } from '#shared/tenancy/rate-limits/store.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 5_000
/** Days for which a message is recognised as a copy; longer than any message can be under way. */
const DEDUPLICATION_DAYS = 7
/** Days for which incidents that are over are kept (docs/spec/alerting.md#incidents). */
const INCIDENT_DAYS = 400
/** Days for which statements and their records are kept (docs/spec/alerting.md#daily-statements). */
const STATEMENT_DAYS = 400
/** Days for which a maintenance window is kept after its end. */
const PAST_WINDOW_DAYS = 90

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
    await untilEmpty(() => pruneFlips(db, deps.config.flipRetentionDays, PAGE))
    await untilEmpty(() => pruneDecisions(db, deps.config.flipRetentionDays, PAGE))
    await untilEmpty(() => pruneIncidents(db, INCIDENT_DAYS, PAGE))
    await untilEmpty(() => pruneBundles(db, INCIDENT_DAYS, PAGE))
    for (const { state, count } of await countOpenIncidents(db)) deps.metrics.incidentsOpen.set({ state }, count)
    await pruneStreams(db, DEDUPLICATION_DAYS)
    await pruneStoredMails(db, DEDUPLICATION_DAYS)
    await pruneStarts(db)
    await pruneHeartbeats(db, deps.config.flipRetentionDays)
    await pruneGaps(db, deps.config.auditRetentionDays)
    await pruneMails(db, deps.config.auditRetentionDays)
    await pruneStatements(db, STATEMENT_DAYS)
    await pruneWindows(db, PAST_WINDOW_DAYS)
    await untilEmpty(() => pruneAudit(db, deps.config.auditRetentionDays, PAGE))
    await untilEmpty(() => pruneAgentCalls(db, deps.config.auditRetentionDays, PAGE))
    await untilEmpty(() => forgetMailboxes(db, PAGE))
    await pruneBuckets(db)
    await pruneCounters(db)
  },
}

async function untilEmpty(prune: () => Promise<number>): Promise<void> {
  while ((await prune()) === PAGE);
}
