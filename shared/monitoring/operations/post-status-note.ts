import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { insertStatusNote } from '../pages/status-note-store.ts'
import { lockProject, type Project } from '../projects/store.ts'

const MAX_TITLE = 100
const MAX_TEXT = 2000

/**
 * Says something on the status page of a project, to everybody who reads it.
 * @throws ValidationError for a note without a title, or a longer one than a page shows
 */
export async function postStatusNote(
  db: Knex,
  actor: Actor,
  { project, title, text }: { project: Project; title: string; text: string },
): Promise<void> {
  if (title === '') throw new ValidationError('A note needs a title.')
  if (title.length > MAX_TITLE || text.length > MAX_TEXT) {
    throw new ValidationError(`A title has ${MAX_TITLE} characters at most, a text ${MAX_TEXT.toLocaleString('en')}.`)
  }
  await transaction(db, async (tx) => {
    await lockProject(tx, project.id)
    await insertStatusNote(tx, project.id, { title, text })
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'status-page.note-posted', target: title })
  })
}
