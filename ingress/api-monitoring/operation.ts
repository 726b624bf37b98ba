import { ForbiddenError, NotFoundError } from '#shared/errors.ts'
import { findCheckOwner } from '#shared/monitoring/checks/store.ts'
import type { CheckOfProject } from '#shared/monitoring/operations/check-changes.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import type { IngressDeps } from '../deps.ts'

export type ApiVersion = 1 | 2 | 3

/**
 * The internal id of a check that a path names by uuid (docs/spec/monitoring.md#finding-the-check).
 * @throws NotFoundError when there is none anywhere, ForbiddenError when it is another project's
 */
export async function requireCheckId(uuid: string, key: ProjectKey, deps: IngressDeps): Promise<number> {
  const owner = await acrossTenants(() => findCheckOwner(deps.db, uuid)) // a foreign one is told from none
  if (!owner) throw new NotFoundError('')
  if (owner.projectId !== key.project.id) throw new ForbiddenError('')
  return owner.id
}

/** A check that a path names by uuid, as operations take it. @throws as requireCheckId does */
export async function requireCheck(uuid: string, key: ProjectKey, deps: IngressDeps): Promise<CheckOfProject> {
  return { project: key.project, id: await requireCheckId(uuid, key, deps), uuid }
}
