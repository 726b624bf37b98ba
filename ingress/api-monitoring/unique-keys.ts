import { NotFoundError } from '#shared/errors.ts'
import { findUuidByUniqueKey } from '#shared/monitoring/checks/store.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import type { IngressDeps } from '../deps.ts'

/**
 * The uuid behind a unique_key of the key's project. Finding one hashes every uuid of the project, so what was found is
 * remembered; a dashboard asks for the same ones again and again. Which uuid it stands for never changes: only whether
 * the check still exists, which the caller looks up.
 * @throws NotFoundError when the project has no such check
 */
export async function uuidOfUniqueKey(uniqueKey: string, key: ProjectKey, deps: IngressDeps): Promise<string> {
  const name = `${key.project.id} ${uniqueKey}`
  const known = deps.uuidsOfUniqueKeys.get(name)
  if (known !== undefined) return known
  const uuid = await findUuidByUniqueKey(deps.db, key.project.id, uniqueKey)
  if (uuid === null) throw new NotFoundError('')
  deps.uuidsOfUniqueKeys.set(name, uuid)
  return uuid
}
