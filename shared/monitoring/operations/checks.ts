import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
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
import { type ChangedRules, rulesOf, withRules } from './rules.ts'

interface NewCheck {
  project: Project
  /** the request as the management API takes it */
  body: JsonObject
  /** whether a name makes the slug too, as in versions 1 and 2 of the API */
  slugFromName: boolean
  /** whether the request may name `rules`, as in version 3 of the API; else the member is ignored */
  takesRules?: boolean
}

/**
 * Creates a check, or updates the one that `unique` finds (docs/spec/monitoring.md#create-and-update). Requests that look for a check,
 * or that a limit may refuse, take their turn per project.
 * @returns the check; `lagMs` is above 0 when pings of the last moments may be missing in it; `changedRules` is null
 *   when the request names none
 * @throws ValidationError with the first thing that is wrong, NotFoundError for a policy that the project does not have
 * @throws ForbiddenError when the project has as many checks as it may, which is noted for its owners
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
  // The answer to an upsert shows the check's state, so it must show the pings before it.
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
    const channels = await chooseIntegrations(tx, project.id, spec)
    const settings = applySpec(null, spec, { slugFromName })
    if (settings.tags !== '') {
      const before = await listTags(tx, project.id)
      requireTagCapacity(before, [...before, settings.tags])
    }
    const created = await insertCheck(tx, project.id, settings)
    if (channels) await assignIntegrations(tx, created, channels)
    await auditCheck(tx, actor, project, 'check.created', created)
    const check = { ...created, integrationIds: channels ?? [] }
    return { ...(await withRules(tx, check, rules, deps)), isNew: true }
  }
  const stored = await notingLimit(db, project, deps, () => transaction(db, store))
  deps.announce({ kind: 'check', uuid: stored.check.uuid, projectId: project.id })
  return { ...stored, lagMs }
}

/**
 * Changes what a request of the management API names of a check; the rest stays.
 * @param input.slugFromName whether a name makes the slug too, as in versions 1 and 2 of the API
 * @param input.takesRules whether the request may name `rules`, as in version 3 of the API; else the member is ignored
 * @returns the check; `lagMs` is above 0 when pings of the last moments may be missing in it; `changedRules` is null
 *   when the request names none
 * @throws ValidationError with the first thing that is wrong, NotFoundError when the check vanished meanwhile, and for
 *   a policy that the project does not have
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
    // The limit of tags is one of the project.
    if (spec.tags !== undefined) await lockProject(tx, project.id)
    const updated = await applyUpdate(tx, actor, project, { uuid, spec, slugFromName })
    return await withRules(tx, updated, rules, deps)
  })
  deps.announce({ kind: 'check', uuid, projectId: project.id })
  return { ...stored, lagMs }
}

/**
 * Deletes a check under its lock: each ping is either recorded before, and removed with it, or finds no check.
 * @returns the check as it was; `lagMs` is above 0 when pings of the last moments may be missing in it
 * @throws NotFoundError when somebody else has deleted it
 */
export async function deleteCheck(
  db: Knex,
  actor: Actor,
  { project, id, uuid }: CheckOfProject,
  deps: Pick<OperationDeps, 'barrier' | 'announce'>,
): Promise<{ check: AssignedCheck; lagMs: number }> {
  const lagMs = await deps.barrier.pass([id])
  const check = await transaction(db, async (tx) => {
    const locked = await requireLocked(tx, project.id, uuid)
    await deleteRow(tx, locked.id)
    await reevaluateChildren(tx, [project.id])
    await auditCheck(tx, actor, project, 'check.deleted', locked)
    return locked
  })
  deps.announce({ kind: 'check', uuid, projectId: project.id })
  return { check, lagMs }
}

/** Pauses a check; one that is paused stays so. @throws NotFoundError when it has vanished meanwhile */
export async function pauseCheck(
  db: Knex,
  actor: Actor,
  check: CheckOfProject,
  deps: StateDeps,
): Promise<ChangedState> {
  return await changeState(db, actor, check, deps, { action: 'check.paused', change: pause })
}

/**
 * Resumes a paused check.
 * @throws ConflictError for one that is not paused, NotFoundError when it has vanished meanwhile
 */
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

/**
 * Makes a new check with the same settings and integrations; its pings and its addresses are its own.
 * @throws ForbiddenError when the project has as many checks as it may, which is noted for its owners
 */
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
      // Two checks with one slug could not be told apart by it.
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
