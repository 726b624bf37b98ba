import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import { ForbiddenError, ValidationError } from '../../errors.ts'
import { createTimeSlices } from '../../platform/process/time-slices.ts'
import { nowMicros } from '../../time.ts'
import { policyView, targetsOf } from '../alerting/policy.ts'
import { changePolicy, insertPolicy, policiesOf } from '../alerting/policy-store.ts'
import { readPolicy, type StepNames } from '../alerting/read-policy.ts'
import type { NamedIntegration } from '../checks/integrations-field.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { readWindow } from '../maintenance/read-window.ts'
import { windowView } from '../maintenance/window.ts'
import { saveWindow, windowsOf } from '../maintenance/window-store.ts'
import type { ObjectChanges, SettingChanges } from '../projects/config-document.ts'
import { identity, insertAs, locating } from './export-project.ts'
import { MAX_POLICIES } from './policies.ts'
import { MAX_WINDOWS } from './windows.ts'

interface Importing {
  projectId: number
  apply: boolean
}

/**
 * Stores differences if `apply` is set. The caller must have locked the project. @throws ValidationError with the
 * path of the first invalid entry, ForbiddenError beyond MAX_POLICIES
 */
export async function importPolicies(
  tx: Knex,
  { projectId, apply }: Importing,
  listed: readonly JsonObject[],
  created: { integrations: readonly NamedIntegration[]; names: StepNames; people: Set<string> },
): Promise<ObjectChanges> {
  const report: ObjectChanges = { create: [], update: [], unchanged: 0 }
  const existing = new Map((await policiesOf(tx, [projectId])).map((policy) => [policy.uuid, policy]))
  const { integrations: known, schedules } = created.names
  const added = created.integrations.filter(({ id }) => !known.some((integration) => integration.id === id))
  const names = { integrations: [...known, ...added], schedules }
  for (const [index, { id, ...body }] of listed.entries()) {
    await locating(`policies[${index}]`, async () => {
      const uuid = identity(id, 'id')
      const current = existing.get(uuid)
      const fields = readPolicy(body, current ?? null, names)
      for (const target of targetsOf(fields.plan)) if ('person' in target) created.people.add(target.person)
      if (!current) {
        report.create.push({ id: uuid, name: fields.name })
        if (apply) await insertAs(tx, 'policy', (savepoint) => insertPolicy(savepoint, projectId, fields, uuid))
        return
      }
      const changes = differences(policyView(current), policyView({ ...current, ...fields }))
      if (!note(report, { id: uuid, name: fields.name, changes })) return
      if (apply) await changePolicy(tx, current.id, fields)
    })
  }
  if (report.create.length > 0 && existing.size + report.create.length > MAX_POLICIES)
    throw new ForbiddenError(`The project would exceed its limit of ${MAX_POLICIES} policies.`)
  return report
}

/**
 * `checks` include those that the document creates. @throws ValidationError with the path of the first invalid entry,
 * ForbiddenError beyond MAX_WINDOWS
 */
export async function importWindows(
  tx: Knex,
  { projectId, apply }: Importing,
  listed: readonly JsonObject[],
  checks: ReadonlySet<string>,
): Promise<ObjectChanges> {
  const report: ObjectChanges = { create: [], update: [], unchanged: 0 }
  const existing = new Map((await windowsOf(tx, [projectId])).map((window) => [window.uuid, window]))
  const slices = createTimeSlices()
  for (const [index, { id, ...body }] of listed.entries()) {
    await slices.yieldIfNeeded()
    await locating(`windows[${index}]`, async () => {
      const uuid = identity(id, 'id')
      const current = existing.get(uuid)
      const fields = readWindow(body, current ?? null, nowMicros())
      const unknown = fields.checks.find((check) => !checks.has(check))
      if (unknown !== undefined) throw new ValidationError(`invalid check identifier: ${unknown}`)
      if (!current) {
        report.create.push({ id: uuid, name: fields.name })
        if (apply) await insertAs(tx, 'window', (savepoint) => saveWindow(savepoint, projectId, { uuid }, fields))
        return
      }
      const changes = differences(windowView(current), windowView({ uuid, ...fields }))
      if (!note(report, { id: uuid, name: fields.name, changes })) return
      if (apply) await saveWindow(tx, projectId, { id: current.id }, fields)
    })
  }
  if (report.create.length > 0 && existing.size + report.create.length > MAX_WINDOWS)
    throw new ForbiddenError(`The project would exceed its limit of ${MAX_WINDOWS} maintenance windows.`)
  return report
}

function note(report: ObjectChanges, update: ObjectChanges['update'][number]): boolean {
  const isChanged = Object.keys(update.changes).length > 0
  if (isChanged) report.update.push(update)
  else report.unchanged += 1
  return isChanged
}

export function differences(before: object, after: object): SettingChanges {
  const [from, to] = [new Map<string, unknown>(Object.entries(before)), new Map<string, unknown>(Object.entries(after))]
  const names = [...new Set([...from.keys(), ...to.keys()])]
  return Object.fromEntries(
    names
      .filter((name) => !isDeepStrictEqual(from.get(name), to.get(name)))
      .map((name) => [name, { from: from.get(name) ?? null, to: to.get(name) ?? null }]),
  )
}
