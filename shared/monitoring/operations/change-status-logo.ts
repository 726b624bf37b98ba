import type { Knex } from 'knex'
import { NotFoundError, ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { logoType, MAX_LOGO_BYTES } from '../pages/logo.ts'
import { saveStatusLogo } from '../pages/status-page-store.ts'
import type { Project } from '../projects/store.ts'

/**
 * Puts a picture above a project's status page, or takes it away.
 * @param bytes of the picture; null for none
 * @throws ValidationError naming what is wrong with it; NotFoundError where nothing is published
 */
export async function changeStatusLogo(
  db: Knex,
  actor: Actor,
  { project, bytes }: { project: Project; bytes: Buffer | null },
): Promise<void> {
  const logo = bytes === null ? null : { type: typeOf(bytes), bytes }
  await transaction(db, async (tx) => {
    if (!(await saveStatusLogo(tx, project.id, logo))) throw new NotFoundError('There is no status page to put it on.')
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
