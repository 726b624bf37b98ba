import type { Knex } from 'knex'
import { limitOfRepeats, monthlyMeterOf, monthStart } from '#shared/monitoring/notifications/limits.ts'
import { monthlyUsage } from '#shared/monitoring/notifications/monthly-store.ts'
import type { WorkerDeps } from '../define-worker.ts'

interface Metered {
  projectId: number
  kind: string
}

/** Finds out of which integrations repeats have used what they may of the month (MONTHLY_RESERVE). */
export type LoadReserve = (tx: Knex, channels: readonly Metered[]) => Promise<(channel: Metered) => boolean>

/** It asks the database only where one of the integrations costs something per message. */
export function createLoadReserve({ config, now }: Pick<WorkerDeps, 'config' | 'now'>): LoadReserve {
  const perMonth = { sms: config.smsLimitPerMonth, call: config.callLimitPerMonth }
  return async (tx, channels) => {
    const metered = channels.filter(({ kind }) => monthlyMeterOf(kind) !== null)
    if (metered.length === 0) return () => false
    const projects = [...new Set(metered.map(({ projectId }) => projectId))]
    const uses = await monthlyUsage(tx, projects, monthStart(now()))
    const taken = new Map(uses.map((use) => [`${use.projectId} ${use.meter}`, use.taken]))
    return ({ projectId, kind }) => {
      const meter = monthlyMeterOf(kind)
      return meter !== null && (taken.get(`${projectId} ${meter}`) ?? 0) >= limitOfRepeats(perMonth[meter])
    }
  }
}
