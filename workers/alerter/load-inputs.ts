import type { Knex } from 'knex'
import type { AlertedCheck, AlertedIntegration } from '#shared/monitoring/alerting/fact-store.ts'
import type { FactIntegration, Incident, Suppression } from '#shared/monitoring/alerting/incident.ts'
import { maintenanceSuppressions, outageSuppressions } from '#shared/monitoring/alerting/suppressions.ts'
import { gapsSince, listenersOf } from '#shared/monitoring/availability/gap-store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { keepsRecord, takesDigests } from '#shared/monitoring/integrations/shown-config.ts'
import { windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import { limitOfRepeats, monthlyMeterOf, monthStart } from '#shared/monitoring/notifications/limits.ts'
import { monthlyUsage } from '#shared/monitoring/notifications/monthly-store.ts'
import { nodesOf } from '#shared/monitoring/rules/parent-store.ts'
import {
  type ParentSuppression,
  relativesOf,
  suppressedByParents,
} from '#shared/monitoring/rules/parent-suppression.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { runYielding } from '#shared/platform/process/time-slices.ts'
import type { Micros } from '#shared/time.ts'
import type { WorkerDeps } from '../define-worker.ts'

/**
 * Loads the parents of checks with dependencies (docs/spec/alerting.md#dependencies).
 * @returns a function that decides if a parent suppresses the incident of a check
 */
export async function loadParents(
  tx: Knex,
  children: readonly AlertedCheck[],
  now: Micros,
): Promise<(check: AlertedCheck, incident: Incident | null, downAt: Micros) => ParentSuppression> {
  const projectIds = [...new Set(children.map(({ projectId }) => projectId))]
  const nodes = projectIds.length === 0 ? [] : await nodesOf(tx, projectIds, now)
  const relatives = new Map(
    [...Map.groupBy(nodes, ({ projectId }) => projectId)].map(([id, group]) => [id, relativesOf(group)]),
  )
  return (check, incident, downAt) =>
    suppressedByParents(check, incident, relatives.get(check.projectId) ?? relativesOf([]), { downAt, now })
}

interface Metered {
  projectId: number
  kind: string
}

/** Returns a function that is true for integrations whose repeats have used their share of the monthly limit. */
export type LoadReserve = (tx: Knex, integrations: readonly Metered[]) => Promise<(integration: Metered) => boolean>

/** Queries the database only for integrations with a monthly limit. */
export function createLoadReserve({ config, now }: Pick<WorkerDeps, 'config' | 'now'>): LoadReserve {
  const perMonth = { sms: config.smsLimitPerMonth, call: config.callLimitPerMonth }
  return async (tx, integrations) => {
    const metered = integrations.filter(({ kind }) => monthlyMeterOf(kind) !== null)
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

interface Requested {
  check: AlertedCheck
  incident: Incident | null
}

interface CheckSuppressions {
  suppressions: Suppression[]
  /** a maintenance window of the check is active now */
  isInWindow: boolean
}

const NOT_SUPPRESSED: CheckSuppressions = { suppressions: [], isInWindow: false }

/** Loads maintenance windows and coverage gaps since the last evaluation (docs/spec/alerting.md#suppression). */
export async function loadSuppressions(
  tx: Knex,
  requested: readonly Requested[],
  now: Micros,
): Promise<(checkId: number) => CheckSuppressions> {
  const projectIds = [...new Set(requested.map(({ check }) => check.projectId))]
  const windows = Map.groupBy(await windowsOf(tx, projectIds), ({ projectId }) => projectId)
  const since = (incident: Incident | null) => incident?.evaluatedAt ?? now
  const gaps = await gapsSince(tx, Math.min(now, ...requested.map(({ incident }) => since(incident))))
  const checkIds = requested.map(({ check }) => check.id)
  const listeners = gaps.length === 0 ? new Map() : await listenersOf(tx, checkIds)
  const byCheck = new Map<number, CheckSuppressions>()
  for (const { check, incident } of requested) {
    const tagged = { uuid: check.uuid, tags: splitTags(check.tags) }
    const ofProject = windows.get(check.projectId) ?? []
    const maintenance = await runYielding(maintenanceSuppressions(ofProject, tagged, { since: since(incident), now }))
    byCheck.set(check.id, {
      suppressions: [...outageSuppressions(gaps, listeners.get(check.id) ?? 'http'), ...maintenance],
      isInWindow: maintenance.some(({ until }) => until !== null && until > now),
    })
  }
  return (checkId) => byCheck.get(checkId) ?? NOT_SUPPRESSED
}

export type ReadIntegration = (integration: AlertedIntegration) => Omit<FactIntegration, 'isOwn' | 'isOverReserve'>

/** The configuration decides which changes an integration ignores. */
export function createReadIntegration({ secrets, log }: Pick<WorkerDeps, 'secrets' | 'log'>): ReadIntegration {
  return ({ id, uuid, kind, sealedConfig, isDisabled }) => ({
    id,
    uuid,
    isDisabled,
    ...configured(kind, sealedConfig),
    keepsRecord: keepsRecord(kind),
  })

  function configured(kind: string, sealedConfig: string): Pick<FactIntegration, 'ignores' | 'isReader'> {
    try {
      const config: unknown = JSON.parse(secrets.open('integration', sealedConfig))
      const rules = findKind(kind)
      const ignores = { up: rules?.isNoop(config, 'up') ?? false, down: rules?.isNoop(config, 'down') ?? false }
      return { ignores, isReader: takesDigests(kind, config) }
    } catch (error) {
      // Others must still be notified. The attempt of this integration will fail and show the error.
      log.error({ kind, ...describeError(error) }, 'integration.not-readable')
      return { ignores: { up: false, down: false }, isReader: false }
    }
  }
}
