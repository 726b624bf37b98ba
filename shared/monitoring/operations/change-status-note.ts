import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { deleteStatusNote, endStatusNote } from '../pages/status-note-store.ts'
import type { Project } from '../projects/store.ts'

const CHANGES = {
  end: { run: endStatusNote, action: 'status-page.note-ended' },
  delete: { run: deleteStatusNote, action: 'status-page.note-deleted' },
} as const

/**
 * Says that what a note of the status page is about is over, or takes the note away.
 * @throws NotFoundError when the project has no such note, or none that goes on
 */
export async function changeStatusNote(
  db: Knex,
  actor: Actor,
  { project, uuid, change }: { project: Project; uuid: string; change: keyof typeof CHANGES },
): Promise<void> {
  const { run, action } = CHANGES[change]
  await transaction(db, async (tx) => {
    const title = await run(tx, project.id, uuid)
    if (title === null) throw new NotFoundError('There is no such note, or it is over already.')
    await insertActorAudit(tx, actor, { organisationId: project.organisationId, action, target: title })
  })
}
