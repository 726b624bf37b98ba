import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { NotFoundError, ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { logoType, MAX_LOGO_BYTES } from '../pages/logo.ts'
import { deleteStatusNote, endStatusNote, insertStatusNote } from '../pages/status-note-store.ts'
import {
  deleteStatusPage,
  findStatusPage,
  type StatusPage,
  saveStatusLogo,
  saveStatusPage,
} from '../pages/status-page-store.ts'
import { lockProject, type Project } from '../projects/store.ts'

/** Null removes the logo. @throws ValidationError for an invalid image, NotFoundError if not published */
export async function changeStatusLogo(
  db: Knex,
  actor: Actor,
  { project, bytes }: { project: Project; bytes: Buffer | null },
): Promise<void> {
  const logo = bytes === null ? null : { type: typeOf(bytes), bytes }
  await transaction(db, async (tx) => {
    if (!(await saveStatusLogo(tx, project.id, logo))) throw new NotFoundError('The project has no status page.')
    const { organisationId, name } = project
    const action = logo === null ? 'status-page.logo-removed' : 'status-page.logo-changed'
    await insertActorAudit(tx, actor, { organisationId, action, target: name })
  })
}

function typeOf(bytes: Buffer) {
  if (bytes.length > MAX_LOGO_BYTES) throw invalid(`The logo must be at most ${MAX_LOGO_BYTES / 1024} kB.`)
  const type = logoType(bytes)
  if (type === null) throw invalid('The logo must be a PNG, JPEG or WebP picture.')
  return type
}

function invalid(message: string): ValidationError {
  return new ValidationError(message, [{ path: 'logo', code: 'FORMAT', message }])
}

const CHANGES = {
  end: { run: endStatusNote, action: 'status-page.note-ended' },
  delete: { run: deleteStatusNote, action: 'status-page.note-deleted' },
} as const

/** @throws NotFoundError if the project does not have the note, or if a note to be ended has ended already */
export async function changeStatusNote(
  db: Knex,
  actor: Actor,
  { project, uuid, change }: { project: Project; uuid: string; change: keyof typeof CHANGES },
): Promise<void> {
  const { run, action } = CHANGES[change]
  await transaction(db, async (tx) => {
    const title = await run(tx, project.id, uuid)
    if (title === null) throw new NotFoundError('The note does not exist or has ended already.')
    await insertActorAudit(tx, actor, { organisationId: project.organisationId, action, target: title })
  })
}

const MAX_TITLE = 100
const MAX_TEXT = 2000

/** @throws ValidationError for a missing title, or a title or text that is too long */
export async function postStatusNote(
  db: Knex,
  actor: Actor,
  { project, title, text }: { project: Project; title: string; text: string },
): Promise<void> {
  if (title === '') throw new ValidationError('Enter a title for the note.')
  if (title.length > MAX_TITLE || text.length > MAX_TEXT) {
    throw new ValidationError(
      `The title must have at most ${MAX_TITLE} characters, the text at most ${MAX_TEXT.toLocaleString('en')}.`,
    )
  }
  await transaction(db, async (tx) => {
    await lockProject(tx, project.id)
    await insertStatusNote(tx, project.id, { title, text })
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'status-page.note-posted', target: title })
  })
}

/** Creates the status page of the project, or saves its settings; an existing page keeps its URL. */
export async function publishStatusPage(
  db: Knex,
  actor: Actor,
  {
    project,
    ...shown
  }: { project: Project } & Pick<StatusPage, 'title' | 'tags' | 'intro' | 'isGrouped' | 'showsProgress'>,
): Promise<void> {
  await transaction(db, async (tx) => {
    const known = await findStatusPage(tx, project.id)
    const token = known?.token ?? randomBytes(16).toString('base64url')
    await saveStatusPage(tx, { projectId: project.id, token, ...shown })
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'status-page.published', target: name })
  })
}

export async function removeStatusPage(db: Knex, actor: Actor, project: Project): Promise<void> {
  await transaction(db, async (tx) => {
    await deleteStatusPage(tx, project.id)
    const { organisationId, name } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'status-page.removed', target: name })
  })
}
