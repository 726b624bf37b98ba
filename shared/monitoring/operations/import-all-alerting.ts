import type { Knex } from 'knex'
import type { Actor } from '../../tenancy/actor.ts'
import { nowMicros } from '../../time.ts'
import { alertingChanged, policiesOf } from '../alerting/policy-store.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { listChecks } from '../checks/store.ts'
import { listResponders } from '../on-call/schedule-store.ts'
import type { ImportReport, ObjectChanges } from '../projects/config-document.ts'
import type { Project } from '../projects/store.ts'
import type { OperationDeps } from './deps.ts'
import { entries } from './export-project.ts'
import { importPolicies, importWindows } from './import-alerting.ts'
import { importRules } from './import-rules.ts'
import { importSchedules } from './import-schedules.ts'
import { stepNames } from './policies.ts'

interface Importing {
  project: Project
  actor: Actor
  document: JsonObject
  apply: boolean
}

interface Imported {
  integrations: ObjectChanges
  checks: ObjectChanges
  touched: string[]
}

/** Imports schedules, the policies that may name them, windows, and the rules of checks, which may name policies. */
export async function importAlerting(
  tx: Knex,
  deps: Pick<OperationDeps, 'config' | 'secrets'>,
  { project, actor, document, apply }: Importing,
  { integrations, checks, touched }: Imported,
): Promise<Pick<ImportReport, 'schedules' | 'policies' | 'windows' | 'unknownPeople'>> {
  const importing = { projectId: project.id, apply }
  const people = new Set<string>()
  const input = { project, apply, people, actor, now: nowMicros() }
  const schedules = await importSchedules(tx, input, entries(document, 'schedules'), integrations.create)
  const names = await stepNames(tx, project)
  const policies = await importPolicies(tx, importing, entries(document, 'policies'), {
    integrations: integrations.create,
    names: { ...names, schedules: new Set([...names.schedules, ...schedules.create.map(({ id }) => id)]) },
    people,
  })
  const present = (await listChecks(tx, project.id)).map(({ uuid }) => uuid)
  const uuids = new Set([...present, ...checks.create.map(({ id }) => id)])
  const windows = await importWindows(tx, importing, entries(document, 'windows'), uuids)
  const known = new Set([
    ...(await policiesOf(tx, [project.id])).map(({ uuid }) => uuid),
    ...policies.create.map(({ id }) => id),
  ])
  const ruleState = await importRules(
    tx,
    deps,
    { ...importing, policies: known, report: checks },
    entries(document, 'checks'),
  )
  for (const uuid of ruleState) if (!touched.includes(uuid)) touched.push(uuid)
  const isChanged = [schedules, policies, windows].some(({ create, update }) => create.length + update.length > 0)
  if (apply && (isChanged || ruleState.length > 0)) await alertingChanged(tx, project.id)
  const members = new Set((await listResponders(tx, [project.organisationId])).map(({ email }) => email))
  const unknownPeople = [...people].filter((address) => !members.has(address)).sort()
  return {
    ...(document.schedules !== undefined && { schedules }),
    ...(document.policies !== undefined && { policies }),
    ...(document.windows !== undefined && { windows }),
    ...(unknownPeople.length > 0 && { unknownPeople }),
  }
}
