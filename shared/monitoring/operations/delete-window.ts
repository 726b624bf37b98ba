import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { alertingChanged } from '../alerting/policy-store.ts'
import { deleteWindow as deleteRow, findWindow, type StoredWindow } from '../maintenance/window-store.ts'
import type { Project } from '../projects/store.ts'

/** Removes a maintenance window; what it held is looked at at once. @throws NotFoundError when there is no such window */
export async function deleteWindow(
  db: Knex,
  actor: Actor,
  { project, uuid }: { project: Pick<Project, 'id' | 'organisationId'>; uuid: string },
): Promise<StoredWindow> {
  return await transaction(db, async (tx) => {
    const window = await findWindow(tx, project.id, uuid)
    if (!window || !(await deleteRow(tx, window.id))) throw new NotFoundError('')
    await alertingChanged(tx, project.id)
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'window.deleted', target: window.name })
    return window
  })
}
