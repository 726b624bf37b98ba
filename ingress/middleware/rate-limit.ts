import type { Response } from 'express'
import { RateLimitedError } from '#shared/errors.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { secondsUntilToken } from '#shared/tenancy/rate-limits/store.ts'
import type { IngressDeps } from '../deps.ts'
import { SHARE_PER_SECOND } from './token-taker.ts'

/** Limits a project with several keys to this multiple of one key. */
const PROJECT_FACTOR = 5

/**
 * Counts a request against the limits of its key and its project, over all processes.
 * @throws RateLimitedError
 */
export async function limitRate(key: ProjectKey, response: Response, deps: IngressDeps): Promise<void> {
  const limit = deps.config.apiRateLimitPerMinute
  if (limit === 0) return
  const [own, shared] = await Promise.all([
    deps.tokens.take(`key:${key.keyId}`, limit),
    deps.tokens.take(`project:${key.project.id}`, limit * PROJECT_FACTOR),
  ])
  const left = Math.max(0, Math.floor(own.left))
  response.setHeader('RateLimit-Limit', limit)
  response.setHeader('RateLimit-Remaining', left)
  response.setHeader('RateLimit-Reset', Math.ceil((limit - left) / (limit * SHARE_PER_SECOND)))
  const refusing = own.granted ? shared : own
  if (refusing.granted) return
  const capacity = refusing === own ? limit : limit * PROJECT_FACTOR
  const seconds = secondsUntilToken(refusing.left, capacity, SHARE_PER_SECOND)
  throw new RateLimitedError('too many requests, slow down', seconds)
}
