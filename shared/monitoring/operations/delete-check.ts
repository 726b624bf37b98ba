import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type AssignedCheck, deleteCheck as deleteRow } from '../checks/store.ts'
import { reevaluateChildren } from '../rules/parent-store.ts'
import { auditCheck, type CheckOfProject, requireLocked } from './check-changes.ts'
import type { OperationDeps } from './deps.ts'

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
