import { pruneBundles } from '#shared/monitoring/alerting/bundle-store.ts'
import { pruneDecisions } from '#shared/monitoring/alerting/decision-store.ts'
import {
  countExhaustedIncidents,
  countOpenIncidents,
  pruneIncidents,
} from '#shared/monitoring/alerting/incident-store.ts'
import { pruneGaps } from '#shared/monitoring/availability/gap-store.ts'
import { pruneHeartbeats } from '#shared/monitoring/availability/heartbeat-store.ts'
import { pruneCodes } from '#shared/monitoring/contacts/code-store.ts'
import { pruneFlips } from '#shared/monitoring/flips/store.ts'
import { pruneWindows } from '#shared/monitoring/maintenance/window-store.ts'
import { pruneImportPlans } from '#shared/monitoring/move-in/store.ts'
import { pruneNotices } from '#shared/monitoring/on-call/notice-store.ts'
import { pruneShifts } from '#shared/monitoring/on-call/shift-store.ts'
import { pruneStoredMails } from '#shared/monitoring/pings/mail-store.ts'
import { pruneStreams } from '#shared/monitoring/pings/record-store.ts'
import { pruneMails } from '#shared/monitoring/reports/report-store.ts'
import { pruneStatements } from '#shared/monitoring/statements/statement-store.ts'
import { pruneStarts } from '#shared/platform/broker/redelivery-store.ts'
import { forgetMailboxes } from '#shared/risk/acceptance/buyer-request-store.ts'
import { lockAbandonedImports } from '#shared/risk/colending/imports/import-store.ts'
import { sweepUploads } from '#shared/risk/colending/imports/upload-store.ts'
import { pruneCounters } from '#shared/risk/metering/counter-store.ts'
import { abandonImport } from '#shared/risk/operations/imports.ts'
import { pruneAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { pruneAgentCalls } from '#shared/tenancy/agents/digest-store.ts'
import { pruneKeys } from '#shared/tenancy/idempotency/store.ts'
import { pruneBuckets } from '#shared/tenancy/rate-limits/store.ts'
import { toDate } from '#shared/time.ts'
import { pruneAnswers, pruneDeliveries } from '#shared/webhooks/retention-store.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 5_000
/** No message can be in flight for longer, so duplicates are recognised. */
const DEDUPLICATION_DAYS = 7
/** See docs/spec/alerting.md#incidents. */
const INCIDENT_DAYS = 400
/** See docs/spec/alerting.md#daily-statements. */
const STATEMENT_DAYS = 400
/** Days after the end of a maintenance window. */
const PAST_WINDOW_DAYS = 90
const SHIFT_DAYS = 800
/** Longer than a notice may precede its shift. */
const NOTICE_DAYS = 30

/** Keeps flips for the current month and the two before it. Pings overwrite each other, so need no sweep. */
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
    deps.metrics.incidentsExhausted.set(await countExhaustedIncidents(db))
    await pruneStreams(db, DEDUPLICATION_DAYS)
    await pruneStoredMails(db, DEDUPLICATION_DAYS)
    await pruneStarts(db)
    await pruneHeartbeats(db, deps.config.flipRetentionDays)
    await pruneGaps(db, deps.config.auditRetentionDays)
    await pruneMails(db, deps.config.auditRetentionDays)
    await pruneStatements(db, STATEMENT_DAYS)
    await pruneWindows(db, PAST_WINDOW_DAYS)
    await pruneImportPlans(db)
    await pruneCodes(db)
    await untilEmpty(() => pruneShifts(db, SHIFT_DAYS, PAGE))
    await untilEmpty(() => pruneNotices(db, NOTICE_DAYS, PAGE))
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

const DELIVERY_RETENTION_PAGE = 1000

export const deliveryRetention: Sweep = {
  name: 'delivery-retention',
  everySeconds: 600,
  async run({ deps, now }) {
    const at = toDate(now)
    while ((await pruneAnswers(deps.reserveDb, at, DELIVERY_RETENTION_PAGE)) === DELIVERY_RETENTION_PAGE);
    while ((await pruneDeliveries(deps.reserveDb, at, DELIVERY_RETENTION_PAGE)) === DELIVERY_RETENTION_PAGE);
  },
}

const ABANDONED_IMPORTS_PAGE = 100

/** Ends abandoned uploads after an hour, and abandoned imports after a day. */
export const abandonedImports: Sweep = {
  name: 'abandoned-imports',
  everySeconds: 60,
  async run({ deps }) {
    while ((await sweepUploads(deps.reserveDb, ABANDONED_IMPORTS_PAGE)) === ABANDONED_IMPORTS_PAGE);
    for (let taken = ABANDONED_IMPORTS_PAGE; taken === ABANDONED_IMPORTS_PAGE; ) {
      taken = await deps.outbox.run(async (tx, enqueue) => {
        const expired = await lockAbandonedImports(tx, ABANDONED_IMPORTS_PAGE)
        for (const found of expired) {
          await abandonImport(tx, found, { line: 0, code: 'EXPIRED' }, null, { enqueue, now: deps.now })
        }
        return expired.length
      })
    }
  },
}
