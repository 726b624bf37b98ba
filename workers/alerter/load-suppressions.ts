import type { Knex } from 'knex'
import type { AlertedCheck } from '#shared/monitoring/alerting/fact-store.ts'
import type { Incident, Suppression } from '#shared/monitoring/alerting/incident.ts'
import { maintenanceSuppressions, outageSuppressions } from '#shared/monitoring/alerting/suppressions.ts'
import { gapsSince, listenersOf } from '#shared/monitoring/availability/gap-store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import { runYielding } from '#shared/platform/process/time-slices.ts'
import type { Micros } from '#shared/time.ts'

interface Requested {
  check: AlertedCheck
  incident: Incident | null
}

interface Suppressions {
  gates: Suppression[]
  isInWindow: boolean
}

const NO_SUPPRESSIONS: Suppressions = { gates: [], isInWindow: false }

/** Loads maintenance windows and coverage gaps of checks (docs/spec/alerting.md#suppression). */
export async function loadSuppressions(
  tx: Knex,
  requested: readonly Requested[],
  now: Micros,
): Promise<(checkId: number) => Suppressions> {
  const projectIds = [...new Set(requested.map(({ check }) => check.projectId))]
  const windows = Map.groupBy(await windowsOf(tx, projectIds), ({ projectId }) => projectId)
  const since = (incident: Incident | null) => incident?.evaluatedAt ?? now
  const gaps = await gapsSince(tx, Math.min(now, ...requested.map(({ incident }) => since(incident))))
  const checkIds = requested.map(({ check }) => check.id)
  const listeners = gaps.length === 0 ? new Map() : await listenersOf(tx, checkIds)
  const gates = new Map<number, Suppressions>()
  for (const { check, incident } of requested) {
    const about = { uuid: check.uuid, tags: splitTags(check.tags) }
    const own = windows.get(check.projectId) ?? []
    const maintenance = await runYielding(maintenanceSuppressions(own, about, { since: since(incident), now }))
    gates.set(check.id, {
      gates: [...outageSuppressions(gaps, listeners.get(check.id) ?? 'http'), ...maintenance],
      isInWindow: maintenance.some(({ until }) => until !== null && until > now),
    })
  }
  return (checkId) => gates.get(checkId) ?? NO_SUPPRESSIONS
}
