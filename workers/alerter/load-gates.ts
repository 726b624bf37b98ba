import type { Knex } from 'knex'
import type { AlertedCheck } from '#shared/monitoring/alerting/fact-store.ts'
import { blindGates, maintenanceGates } from '#shared/monitoring/alerting/gates.ts'
import type { Gate, Incident } from '#shared/monitoring/alerting/incident.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { doorsOf, gapsSince } from '#shared/monitoring/gaps/gap-store.ts'
import { windowsOf } from '#shared/monitoring/windows/window-store.ts'
import { runInTurns } from '#shared/platform/process/turns.ts'
import type { Micros } from '#shared/time.ts'

interface Asked {
  check: AlertedCheck
  incident: Incident | null
}

interface Gates {
  gates: Gate[]
  isInWindow: boolean
}

const NO_GATES: Gates = { gates: [], isInWindow: false }

/** What holds the messages of checks: maintenance windows, and time in which we cannot hear them (alerting 3, 5). */
export async function loadGates(tx: Knex, asked: readonly Asked[], now: Micros): Promise<(checkId: number) => Gates> {
  const projectIds = [...new Set(asked.map(({ check }) => check.projectId))]
  const windows = Map.groupBy(await windowsOf(tx, projectIds), ({ projectId }) => projectId)
  const since = (incident: Incident | null) => incident?.lookedAt ?? now
  const gaps = await gapsSince(tx, Math.min(now, ...asked.map(({ incident }) => since(incident))))
  const checkIds = asked.map(({ check }) => check.id)
  const doors = gaps.length === 0 ? new Map() : await doorsOf(tx, checkIds)
  const gates = new Map<number, Gates>()
  for (const { check, incident } of asked) {
    const about = { uuid: check.uuid, tags: splitTags(check.tags) }
    const own = windows.get(check.projectId) ?? []
    const maintenance = await runInTurns(maintenanceGates(own, about, { since: since(incident), now }))
    gates.set(check.id, {
      gates: [...blindGates(gaps, doors.get(check.id) ?? 'http'), ...maintenance],
      isInWindow: maintenance.some(({ until }) => until !== null && until > now),
    })
  }
  return (checkId) => gates.get(checkId) ?? NO_GATES
}
