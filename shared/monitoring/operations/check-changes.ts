import type { Knex } from 'knex'
import { ForbiddenError, NotFoundError, ValidationError } from '../../errors.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { listTags } from '../badges/store.ts'
import { changeLabels } from '../checks/change-labels.ts'
import type { Check } from '../checks/check.ts'
import { type NamedIntegration, resolveIntegrations } from '../checks/integrations-field.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { applySpec } from '../checks/settings.ts'
import { nameOf } from '../checks/slug.ts'
import { type CheckSpec, parseCheckSpec } from '../checks/spec.ts'
import {
  type AssignedCheck,
  assignIntegrations,
  countChecks,
  findCheck,
  lockCheck,
  updateSettings,
} from '../checks/store.ts'
import { requireTagCapacity } from '../checks/tags.ts'
import { listIntegrations } from '../integrations/store.ts'
import { noteCheckLimit } from '../projects/quota-store.ts'
import type { Project } from '../projects/store.ts'
import { reevaluateChildren } from '../rules/parent-store.ts'
import { isValidSchedule, nextOccurrence } from '../schedules/schedule.ts'
import { resolveTimeZone } from '../schedules/time-zones.ts'
import type { OperationDeps } from './deps.ts'
import { deadlineOf } from './rule-deadline.ts'

export interface CheckOfProject {
  project: Pick<Project, 'id' | 'organisationId'>
  id: number
  uuid: string
}

export function parseSpec(body: JsonObject): CheckSpec {
  const parsed = parseCheckSpec(body, { isValidSchedule, resolveTimeZone })
  if (!parsed.ok) throw new ValidationError(parsed.error)
  return parsed.spec
}

/** @throws NotFoundError if it was deleted */
export async function requireLocked(tx: Knex, projectId: number, uuid: string): Promise<AssignedCheck> {
  const check = await lockCheck(tx, projectId, uuid)
  if (!check) throw new NotFoundError('The check does not exist any more.')
  return check
}

/** Locks the check, so that the deadline is computed from the last ping. */
export async function applyUpdate(
  tx: Knex,
  actor: Actor,
  project: Pick<Project, 'id' | 'organisationId'>,
  { uuid, spec, slugFromName }: { uuid: string; spec: CheckSpec; slugFromName: boolean },
): Promise<AssignedCheck> {
  const check = await requireLocked(tx, project.id, uuid)
  const integrations = await chooseIntegrations(tx, project.id, spec)
  const changes = applySpec(check, spec, { slugFromName })
  const changed = { ...check, ...changes }
  if (changed.tags !== check.tags) {
    const others = await listTags(tx, project.id, check.id)
    requireTagCapacity([...others, check.tags], [...others, changed.tags])
  }
  await updateSettings(tx, check.id, changes, await deadlineOf(tx, changed, nextOccurrence))
  if (integrations) await assignIntegrations(tx, check, integrations)
  if (changed.tags !== check.tags) await reevaluateChildren(tx, [project.id])
  const stored = await findCheck(tx, uuid)
  if (!stored) throw new NotFoundError('The check does not exist any more.')
  const labels = changeLabels(check, stored)
  await auditCheck(tx, actor, project, 'check.changed', stored, labels.length === 0 ? '' : `: ${labels.join(', ')}`)
  return stored
}

/** Returns null if the request has no `channels`. @throws ValidationError for unknown ones */
export async function chooseIntegrations(tx: Knex, projectId: number, spec: CheckSpec): Promise<string[] | null> {
  if (spec.channels === undefined) return null
  const integrations = await listIntegrations(tx, projectId)
  const choice = resolveIntegrations(
    spec.channels,
    integrations.map(({ uuid, name }) => ({ id: uuid, name })),
  )
  if (!choice.ok) throw new ValidationError(choice.error)
  return choice.ids
}

export async function auditCheck(
  tx: Knex,
  actor: Actor,
  { organisationId }: Pick<Project, 'organisationId'>,
  action: `check.${string}`,
  check: Pick<Check, 'name' | 'uuid'>,
  suffix = '',
): Promise<void> {
  await insertActorAudit(tx, actor, { organisationId, action, target: nameOf(check) + suffix })
}

type Limited = Pick<Project, 'id' | 'checkLimit'>
type Limits = Pick<OperationDeps, 'config'>

export function checkLimitOf({ checkLimit }: Pick<Project, 'checkLimit'>, { config }: Limits): number {
  return checkLimit ?? config.checkLimit
}

/** The caller must have locked the project. @throws ForbiddenError if the limit of checks is reached */
export async function requireCapacity(tx: Knex, project: Limited, deps: Limits): Promise<void> {
  if ((await countChecks(tx, project.id)) >= checkLimitOf(project, deps)) {
    throw new ForbiddenError('The project has reached its limit of checks.')
  }
}

/** Stores a refusal by the limit for a mail to the project's owners, after the rollback. */
export async function notingLimit<T>(db: Knex, project: Limited, deps: Limits, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ForbiddenError) await noteCheckLimit(db, project.id, checkLimitOf(project, deps))
    throw error
  }
}

export async function namedIntegrations(db: Knex, projectId: number): Promise<NamedIntegration[]> {
  const integrations = await listIntegrations(db, projectId)
  return integrations.map(({ uuid, name }) => ({ id: uuid, name }))
}
