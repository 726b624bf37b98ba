import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { AssignedCheck } from '../checks/store.ts'
import type { Quorum } from '../rules/quorum.ts'
import { deleteSource, findFacts, saveRuling } from '../rules/rule-state-store.ts'
import { nextOccurrence } from '../schedules/schedule.ts'
import { auditCheck, type CheckOfProject, requireLocked } from './check-changes.ts'
import { deadlineOf } from './rule-deadline.ts'

/** Forgets one of the machines that report for a check. @throws NotFoundError for one that never did */
export async function removeSource(
  db: Knex,
  actor: Actor,
  { project, id, uuid, name }: CheckOfProject & { name: string },
): Promise<{ check: AssignedCheck; quorum: Quorum }> {
  return await transaction(db, async (tx) => {
    const check = await requireLocked(tx, project.id, uuid)
    if (!(await deleteSource(tx, id, name))) throw new NotFoundError('')
    const quorum = (await findFacts(tx, [id])).get(id)?.sources
    if (!quorum) throw new NotFoundError('')
    const alertAfter = await deadlineOf(tx, check, nextOccurrence)
    await saveRuling(tx, id, { ruleBits: check.ruleBits ?? 0, alertAfter })
    await auditCheck(tx, actor, project, 'check.changed', check, `: source ${name} removed`)
    return { check, quorum }
  })
}
