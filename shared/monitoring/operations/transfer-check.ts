import type { Knex } from 'knex'
import { ConflictError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { makeIncidentDue } from '../alerting/policy-store.ts'
import { listTags } from '../badges/store.ts'
import { countChecks } from '../checks/store.ts'
import { requireTagCapacity } from '../checks/tag-limit.ts'
import { moveCheck } from '../projects/changes-store.ts'
import { lockProject, type Project } from '../projects/store.ts'
import { reevaluateChildren } from '../rules/parent-store.ts'
import { auditCheck, requireLocked } from './check-changes.ts'
import { checkLimitOf } from './check-limit.ts'
import type { OperationDeps } from './deps.ts'

/**
 * Moves a check to another project, where no integration is assigned to it. The actor may manage both: what leaves a
 * project is lost to its people.
 * @throws ConflictError when the other project has as many checks as it may, NotFoundError when the check has vanished
 */
export async function transferCheck(
  db: Knex,
  actor: Actor,
  { uuid, from, to }: { uuid: string; from: Project; to: Project },
  deps: Pick<OperationDeps, 'config' | 'announce'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    await lockProject(tx, to.id)
    if ((await countChecks(tx, to.id)) >= checkLimitOf(to, deps)) {
      throw new ConflictError('That project has as many checks as it may.')
    }
    const locked = await requireLocked(tx, from.id, uuid)
    const before = await listTags(tx, to.id)
    requireTagCapacity(before, [...before, locked.tags])
    await moveCheck(tx, locked.id, to.id)
    await makeIncidentDue(tx, locked.id)
    await reevaluateChildren(tx, [from.id])
    await auditCheck(tx, actor, from, 'check.transferred', locked, ` to ${to.name}`)
    if (to.organisationId !== from.organisationId) {
      await auditCheck(tx, actor, to, 'check.received', locked, ` from ${from.name}`)
    }
  })
  deps.announce({ kind: 'check', uuid, projectId: from.id })
  deps.announce({ kind: 'check', uuid, projectId: to.id })
}
