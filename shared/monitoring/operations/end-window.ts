import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import type { Micros } from '../../time.ts'
import { alertingChanged } from '../alerting/policy-store.ts'
import { endedAt } from '../maintenance/window.ts'
import { findWindow, type StoredWindow, saveWindow } from '../maintenance/window-store.ts'
import { lockProject, type Project } from '../projects/store.ts'

/**
 * Ends the maintenance that goes on: a window that lies once in time for good, of a recurring one this occurrence alone.
 * What it held is looked at at once; one that does not go on stays as it is.
 * @throws NotFoundError when the project has no such window
 */
export async function endWindow(
  db: Knex,
  actor: Actor,
  { project, uuid, now }: { project: Pick<Project, 'id' | 'organisationId'>; uuid: string; now: Micros },
): Promise<StoredWindow> {
  return await transaction(db, async (tx) => {
    await lockProject(tx, project.id)
    const window = await findWindow(tx, project.id, uuid)
    if (!window) throw new NotFoundError('')
    const time = endedAt(window, now)
    if (!time) return window
    const ended = await saveWindow(tx, project.id, { id: window.id }, { ...window, time })
    if (!ended) throw new NotFoundError('')
    await alertingChanged(tx, project.id)
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'window.changed', target: window.name })
    return ended
  })
}
