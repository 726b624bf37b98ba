import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { JsonObject } from '../checks/json-body.ts'
import type { AssignedCheck } from '../checks/store.ts'
import { applyUpdate, auditCheck, type OwnCheck, parseSpec } from './check-changes.ts'
import type { OperationDeps } from './deps.ts'

/**
 * Changes what a request of the management API names of a check; the rest stays.
 * @param input.slugFromName whether a name makes the slug too, as in versions 1 and 2 of the API
 * @returns the check; `lagMs` is above 0 when pings of the last moments may be missing in it
 * @throws ValidationError with the first thing that is wrong, NotFoundError when the check vanished meanwhile
 */
export async function updateCheck(
  db: Knex,
  actor: Actor,
  { project, id, uuid, body, slugFromName }: OwnCheck & { body: JsonObject; slugFromName: boolean },
  deps: Pick<OperationDeps, 'barrier' | 'announce'>,
): Promise<{ check: AssignedCheck; lagMs: number }> {
  const spec = parseSpec(body)
  const lagMs = await deps.barrier.pass([id])
  const check = await transaction(db, async (tx) => {
    const updated = await applyUpdate(tx, project.id, uuid, spec, { slugFromName })
    await auditCheck(tx, actor, project, 'check.changed', updated)
    return updated
  })
  deps.announce({ kind: 'check', uuid, projectId: project.id })
  return { check, lagMs }
}
