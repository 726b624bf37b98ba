import type { Request, Response } from 'express'
import { ForbiddenError, NotFoundError } from '#shared/errors.ts'
import { invalid, mustBeWithin } from '#shared/monitoring/alerting/fields.ts'
import { findCheckOwner, findUuidByUniqueKey } from '#shared/monitoring/checks/store.ts'
import type { CheckOfProject } from '#shared/monitoring/operations/check-changes.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import type { IngressDeps } from '../deps.ts'
import { failMonitoring } from '../errors.ts'
import type { Dialect } from '../route.ts'

export type ApiVersion = 1 | 2 | 3

/**
 * Returns the id of a check by its uuid (docs/spec/monitoring.md#finding-the-check).
 * @throws NotFoundError if no project has it, ForbiddenError if another project has it
 */
export async function requireCheckId(uuid: string, key: ProjectKey, deps: IngressDeps): Promise<number> {
  const owner = await acrossTenants(() => findCheckOwner(deps.db, uuid)) // 403 for checks of other projects, 404 for none
  if (!owner) throw new NotFoundError('')
  if (owner.projectId !== key.project.id) throw new ForbiddenError('')
  return owner.id
}

/** @throws as `requireCheckId` */
export async function requireCheck(uuid: string, key: ProjectKey, deps: IngressDeps): Promise<CheckOfProject> {
  return { project: key.project, id: await requireCheckId(uuid, key, deps), uuid }
}

/** The dialect of the monitoring API: CORS on every answer, 405 without `Allow`, errors as `{"error": text}`. */
export const monitoringDialect: Dialect = {
  prepare(_request: Request, response: Response, methods: readonly string[]) {
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Access-Control-Allow-Headers', 'X-Api-Key')
    response.setHeader('Access-Control-Allow-Methods', [...methods, 'OPTIONS'].join(', '))
    response.setHeader('Access-Control-Max-Age', '600')
  },
  refuseMethod(request: Request, response: Response) {
    response.status(request.method === 'OPTIONS' ? 204 : 405).end()
  },
  fail: failMonitoring,
}

/** Returns null for a missing parameter. @throws ValidationError that names the field */
export function numberOf(query: URLSearchParams, name: string, range: { min: number; max: number }): number | null {
  const text = query.getAll(name).at(-1)
  if (text === undefined) return null
  if (!/^[0-9]{1,20}$/.test(text)) throw invalid(name, 'must be a whole number')
  const value = Number(text)
  if (value < range.min || value > range.max) throw invalid(name, mustBeWithin(range))
  return value
}

/**
 * Returns the uuid of a unique_key of the project. A lookup hashes every uuid of the project, so results are cached. The
 * uuid of a unique_key never changes; the caller checks that the check still exists.
 * @throws NotFoundError if the project has no such check
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
