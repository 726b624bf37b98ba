import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { JsonObject } from '../checks/json-body.ts'
import type { AssignedCheck } from '../checks/store.ts'
import { lockProject } from '../projects/store.ts'
import { applyUpdate, type CheckOfProject, parseSpec } from './check-changes.ts'
import type { OperationDeps } from './deps.ts'
import { type ChangedRules, rulesOf, withRules } from './store-rules.ts'

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
