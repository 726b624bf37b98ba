import { queuesOf } from '#shared/contracts/ping-generations.ts'
import { settledUntil } from '#shared/monitoring/availability/heartbeat-store.ts'
import { stateDays } from '#shared/monitoring/operations/uptime.ts'
import { spanOfDate } from '#shared/monitoring/statements/record-of-day.ts'
import { findOpenDays, statementAge } from '#shared/monitoring/statements/statement-store.ts'
import { liveGenerations } from '#shared/platform/database/ping-shards.ts'
import type { Sweep } from '../sweep.ts'

const BARRIER_TIMEOUT_MS = 2_000

/** No ping of that day is missing: listeners have settled it (docs/spec/alerting.md#daily-statements). */
export const statements: Sweep = {
  name: 'statements',
  everySeconds: 30,
  async run({ deps, barriers, now, isUnsettled }) {
    const [oldest] = await findOpenDays(deps.reserveDb, now, 1)
    deps.metrics.statementAge.set(await statementAge(deps.reserveDb, now))
    if (!oldest || isUnsettled) return
    const { until } = await settledUntil(deps.reserveDb)
    if (until < spanOfDate(oldest.date).until) return
    const queues = (await liveGenerations(deps.reserveDb)).flatMap(queuesOf)
    const answered = await barriers.answering(queues, BARRIER_TIMEOUT_MS)
    if (answered.size === queues.length) await stateDays(deps.reserveDb, Math.min(now, until))
  },
}
