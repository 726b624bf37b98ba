import type { Request } from 'express'
import { UnauthorizedError } from '#shared/errors.ts'
import { API_KEY_LENGTH } from '#shared/monitoring/projects/api-key.ts'
import { findProjectKey, type ProjectKey, touchProjectKey } from '#shared/monitoring/projects/store.ts'
import { acrossTenants, enterTenant } from '#shared/platform/database/tenant.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { IngressDeps } from '../deps.ts'

/**
 * Identifies the caller (docs/spec/monitoring.md#authentication). The header wins over the body's member, even if it is
 * empty.
 * @param allowed kinds of keys that this operation accepts; any other key is wrong
 * @throws UnauthorizedError `missing api key` for a key of another length, `wrong api key` otherwise
 */
export async function authenticate(
  request: Request,
  deps: IngressDeps,
  allowed: 'rw' | 'any',
  bodyKey?: unknown,
): Promise<ProjectKey> {
  const header = request.headers['x-api-key']
  const key = typeof header === 'string' ? header : textOf(bodyKey)
  if (key.length !== API_KEY_LENGTH) throw new UnauthorizedError('missing api key')
  const found = await findKey(key, deps)
  if (!found || found.kind === 'ping' || (allowed === 'rw' && found.kind !== 'rw')) {
    throw new UnauthorizedError('wrong api key')
  }
  enterTenant({ projectId: found.project.id, organisationId: found.project.organisationId })
  return found
}

export async function findKey(key: string, deps: IngressDeps): Promise<ProjectKey | null> {
  const digests = deps.secrets.digests(key)
  const name = digests[0]?.toString('base64') ?? ''
  const known = deps.projectKeys.get(name)
  if (known) return known
  const found = await acrossTenants(() => findProjectKey(deps.db, digests))
  if (!found) return null
  deps.projectKeys.set(name, found)
  acrossTenants(() => touchProjectKey(deps.db, found.keyId)).catch((error: unknown) => {
    deps.log.warn(describeError(error), 'key.use-not-noted')
  })
  return found
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
