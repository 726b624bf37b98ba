import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { listTags } from '../badges/store.ts'
import type { JsonObject } from '../checks/json-body.ts'
import { applySpec, uniqueCriteria } from '../checks/settings.ts'
import { type AssignedCheck, assignIntegrations, findUnique, insertCheck } from '../checks/store.ts'
import { requireTagCapacity } from '../checks/tag-limit.ts'
import { lockProject, type Project } from '../projects/store.ts'
import { applyUpdate, auditCheck, chooseIntegrations, parseSpec } from './check-changes.ts'
import { notingLimit, requireCapacity } from './check-limit.ts'
import type { OperationDeps } from './deps.ts'
import { type ChangedRules, rulesOf, withRules } from './store-rules.ts'

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
