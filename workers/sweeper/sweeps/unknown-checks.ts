import type { Knex } from 'knex'
import { insertDecisions } from '#shared/monitoring/alerting/decision-store.ts'
import { assignmentsOf } from '#shared/monitoring/alerting/fact-store.ts'
import { insertSummaries } from '#shared/monitoring/alerting/notification-store.ts'
import { policyFor } from '#shared/monitoring/alerting/policy.ts'
import { policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import { maintenanceSuppressions } from '#shared/monitoring/alerting/suppressions.ts'
import { endUnknowns } from '#shared/monitoring/availability/extension-store.ts'
import { noticeOf } from '#shared/monitoring/availability/notice.ts'
import { claimUnknown, type DueUnknown, markNotified } from '#shared/monitoring/availability/notice-store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { windowsOf } from '#shared/monitoring/maintenance/window-store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { runYielding } from '#shared/platform/process/time-slices.ts'
import { type DigestReader, digestReaders } from '../../digest-readers.ts'
import type { Sweep, Tick } from '../sweep.ts'

/** Ends the unknown time of checks that were pinged, went down or were paused. */
export const unknownChecks: Sweep = {
  name: 'unknown-checks',
  everySeconds: 10,
  work: 'unknownPeriods',
  async run({ deps }) {
    await endUnknowns(deps.reserveDb)
  },
}

/** Notifies each project and integration once of checks in unknown time (docs/spec/alerting.md#unknown-time). */
export const unknownNotices: Sweep = {
  name: 'unknown-notices',
  everySeconds: 5,
  work: 'unknownPeriods',
  async run({ deps }) {
    const messages = await transaction(deps.reserveDb, async (tx) => {
      const claimed = await claimUnknown(tx)
      if (claimed.length === 0) return []
      await markNotified(
        tx,
        claimed.map(({ id }) => id),
      )
      const wanted = await outsideMaintenance(
        tx,
        claimed.filter(({ isWanted }) => isWanted),
      )
      return await notifyReaders(tx, deps, wanted)
    })
    deps.outbox.publishLater(messages)
  },
}

/** Omits checks whose expected ping was in a maintenance window. */
async function outsideMaintenance(tx: Knex, checks: readonly DueUnknown[]): Promise<DueUnknown[]> {
  const windows = Map.groupBy(
    await windowsOf(tx, [...new Set(checks.map(({ projectId }) => projectId))]),
    ({ projectId }) => projectId,
  )
  const expected: DueUnknown[] = []
  for (const check of checks) {
    const about = { uuid: check.uuid, tags: splitTags(check.tags) }
    const at = { since: check.expectedAt, now: check.expectedAt }
    const planned = await runYielding(maintenanceSuppressions(windows.get(check.projectId) ?? [], about, at))
    if (planned.length === 0) expected.push(check)
  }
  return expected
}

async function notifyReaders(tx: Knex, deps: Tick['deps'], checks: readonly DueUnknown[]) {
  const readersOf = await loadReaders(tx, deps, checks)
  const notified = checks.map((check) => ({ check, readers: readersOf(check) }))
  const byReader = Map.groupBy(
    notified.flatMap(({ check, readers }) => readers.map(({ id }) => ({ id, check }))),
    ({ id }) => id,
  )
  await insertDecisions(
    tx,
    notified.flatMap(({ check, readers }) =>
      readers.length === 0
        ? []
        : [
            {
              checkId: check.checkId,
              flipId: null,
              incidentId: null,
              at: deps.now(),
              outcome: 'notified',
              reason: 'UNKNOWN_NOTICE',
              detail: {},
              until: check.nextAt,
              channels: readers.map(({ uuid }) => ({ id: uuid, outcome: 'notified', reason: 'UNKNOWN_NOTICE' })),
            },
          ],
    ),
  )
  return await insertSummaries(
    tx,
    [...byReader].flatMap(([integrationId, entries]) => {
      const [first] = entries
      const link = `${deps.config.publicUrl}/projects/${first?.check.projectUuid}/gaps`
      const summary = noticeOf(
        entries.map(({ check }) => check),
        link,
      )
      return [{ integrationId, what: 'unknown', status: 'down', bundleId: null, summary }]
    }),
  )
}

async function loadReaders(
  tx: Knex,
  deps: Tick['deps'],
  checks: readonly DueUnknown[],
): Promise<(check: DueUnknown) => DigestReader[]> {
  const policies = await policiesOf(tx, [...new Set(checks.map(({ projectId }) => projectId))])
  const firstStepOf = (check: DueUnknown) =>
    policyFor(
      check,
      policies.filter(({ projectId }) => projectId === check.projectId),
    )?.plan.steps[0]?.channels ?? null
  const assigned = Map.groupBy(
    await assignmentsOf(
      tx,
      checks.map(({ checkId }) => checkId),
    ),
    ({ checkId }) => checkId,
  )
  const ids = [...assigned.values()].flat().map(({ integrationId }) => integrationId)
  const readers = await digestReaders(tx, deps, { ids, uuids: checks.flatMap((check) => firstStepOf(check) ?? []) })
  return (check) => {
    const named = firstStepOf(check)
    const found = named
      ? named.flatMap((uuid) => readers({ uuid }).readers)
      : (assigned.get(check.checkId) ?? []).flatMap(({ integrationId }) => readers({ id: integrationId }).readers)
    return [...new Map(found.map((reader) => [reader.id, reader])).values()]
  }
}
