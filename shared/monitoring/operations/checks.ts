import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { promoteMembersOfCheck } from '../alerting/merge-store.ts'
import { listTags } from '../badges/store.ts'
import type { Check } from '../checks/check.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { applySpec, uniqueCriteria } from '../checks/settings.ts'
import { pause, resume } from '../checks/state-machine.ts'
import {
  type AssignedCheck,
  assignIntegrations,
  deleteCheck as deleteRow,
  findUnique,
  insertCheck,
} from '../checks/store.ts'
import { requireTagCapacity } from '../checks/tags.ts'
import { lockProject, type Project } from '../projects/store.ts'
import { reevaluateChildren } from '../rules/parent-store.ts'
import {
  applyUpdate,
  auditCheck,
  type CheckOfProject,
  chooseIntegrations,
  notingLimit,
  parseSpec,
  requireCapacity,
  requireLocked,
} from './check-changes.ts'
import { type ChangedState, changeState, type StateDeps } from './check-state.ts'
import type { OperationDeps } from './deps.ts'
import { retiredOwner } from './retired-uuid.ts'
import { type ChangedRules, rulesOf, withRules } from './rules.ts'

interface NewCheck {
  project: Project
  body: JsonObject
  /** derives the slug from the name, as in versions 1 and 2 of the API */
  slugFromName: boolean
  /** accepts `rules`, as in version 3 of the API; otherwise the member is ignored */
  takesRules?: boolean
}

/**
 * A lock per project serialises these requests, because of `unique` and the limit of checks
 * (docs/spec/monitoring.md#create-and-update). `lagMs` is above 0 if the latest pings may be missing; `changedRules`
 * is null without `rules`. @throws ValidationError for the first invalid member, NotFoundError for a policy of
 * another project, ForbiddenError at the limit of checks, after which the owners get a mail
 */
export async function createCheck(
  db: Knex,
  actor: Actor,
  { project, body, slugFromName, takesRules = false }: NewCheck,
  deps: Pick<OperationDeps, 'config' | 'barrier' | 'announce' | 'secrets'>,
): Promise<{ check: AssignedCheck; changedRules: ChangedRules | null; isNew: boolean; lagMs: number }> {
  const spec = parseSpec(body)
  const rules = takesRules ? rulesOf(body) : null
  const criteria = uniqueCriteria(spec)
  // The response shows the state of the check, which must include the pings before the request.
  const known = criteria && (await findUnique(db, project.id, criteria))
  const lagMs = known ? await deps.barrier.pass([known.id]) : 0

  const store = async (tx: Knex) => {
    await lockProject(tx, project.id)
    const match = criteria ? await findUnique(tx, project.id, criteria) : null
    if (match) {
      const updated = await applyUpdate(tx, actor, project, { uuid: match.uuid, spec, slugFromName })
      return { ...(await withRules(tx, updated, rules, deps)), isNew: false }
    }
    await requireCapacity(tx, project, deps)
    const integrations = await chooseIntegrations(tx, project.id, spec)
    const settings = applySpec(null, spec, { slugFromName })
    if (settings.tags !== '') {
      const before = await listTags(tx, project.id)
      requireTagCapacity(before, [...before, settings.tags])
    }
    const created = await insertCheck(tx, project.id, settings)
    if (integrations) await assignIntegrations(tx, created, integrations)
    await auditCheck(tx, actor, project, 'check.created', created)
    const check = { ...created, integrationIds: integrations ?? [] }
    return { ...(await withRules(tx, check, rules, deps)), isNew: true }
  }
  const stored = await notingLimit(db, project, deps, () => transaction(db, store))
  deps.announce({ kind: 'check', uuid: stored.check.uuid, projectId: project.id })
  return { ...stored, lagMs }
}

/**
 * `lagMs` is above 0 if the latest pings may be missing; `changedRules` is null without `rules`. @throws
 * ValidationError for the first invalid member, NotFoundError if the check was deleted, or for a policy of another
 * project
 */
export async function updateCheck(
  db: Knex,
  actor: Actor,
  input: CheckOfProject & { body: JsonObject; slugFromName: boolean; takesRules?: boolean },
  deps: Pick<OperationDeps, 'barrier' | 'announce' | 'secrets'>,
): Promise<{ check: AssignedCheck; changedRules: ChangedRules | null; lagMs: number }> {
  const { project, id, uuid, body, slugFromName, takesRules = false } = input
  const spec = parseSpec(body)
  const rules = takesRules ? rulesOf(body) : null
  const lagMs = await deps.barrier.pass([id])
  const stored = await transaction(db, async (tx) => {
    // The limit of tags applies to the whole project.
    if (spec.tags !== undefined) await lockProject(tx, project.id)
    const updated = await applyUpdate(tx, actor, project, { uuid, spec, slugFromName })
    return await withRules(tx, updated, rules, deps)
  })
  deps.announce({ kind: 'check', uuid, projectId: project.id })
  return { ...stored, lagMs }
}

/** The lock prevents pings of a deleted check. @throws NotFoundError if it was deleted already */
export async function deleteCheck(
  db: Knex,
  actor: Actor,
  { project, id, uuid }: CheckOfProject,
  deps: Pick<OperationDeps, 'barrier' | 'announce' | 'secrets'>,
): Promise<{ check: AssignedCheck; lagMs: number }> {
  const lagMs = await deps.barrier.pass([id])
  const check = await transaction(db, async (tx) => {
    const locked = await requireLocked(tx, project.id, uuid)
    await promoteMembersOfCheck(tx, locked.id)
    await deleteRow(tx, locked.id, retiredOwner(deps.secrets, project.organisationId, uuid))
    await reevaluateChildren(tx, [project.id])
    await auditCheck(tx, actor, project, 'check.deleted', locked)
    return locked
  })
  deps.announce({ kind: 'check', uuid, projectId: project.id })
  return { check, lagMs }
}

/** Has no effect on a paused check. @throws NotFoundError if it was deleted */
export async function pauseCheck(
  db: Knex,
  actor: Actor,
  check: CheckOfProject,
  deps: StateDeps,
): Promise<ChangedState> {
  return await changeState(db, actor, check, deps, { action: 'check.paused', change: pause })
}

/** @throws ConflictError if the check is not paused, NotFoundError if it was deleted */
export async function resumeCheck(
  db: Knex,
  actor: Actor,
  check: CheckOfProject,
  deps: StateDeps,
): Promise<ChangedState> {
  return await changeState(db, actor, check, deps, {
    action: 'check.resumed',
    change: (state) => {
      const flip = resume(state)
      if (!flip) throw new ConflictError('check is not paused')
      return flip
    },
  })
}

/** Omits pings and rules. @throws ForbiddenError if the limit of checks is reached; the project's owners get a mail */
export async function copyCheck(
  db: Knex,
  actor: Actor,
  { project, check }: { project: Project; check: AssignedCheck },
  deps: Pick<OperationDeps, 'config' | 'announce'>,
): Promise<Check> {
  const store = async (tx: Knex) => {
    await lockProject(tx, project.id)
    await requireCapacity(tx, project, deps)
    const copied = await insertCheck(tx, project.id, {
      ...check,
      name: `${check.name} (copy)`.slice(0, 100),
      // With the same slug, ping URLs with a slug would be ambiguous.
      slug: check.slug === '' ? '' : `${check.slug.slice(0, 95)}-copy`,
    })
    await assignIntegrations(tx, copied, check.integrationIds)
    await auditCheck(tx, actor, project, 'check.copied', check)
    return copied
  }
  const made = await notingLimit(db, project, deps, () => transaction(db, store))
  deps.announce({ kind: 'check', uuid: made.uuid, projectId: project.id })
  return made
}
