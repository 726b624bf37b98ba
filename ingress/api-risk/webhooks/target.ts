import type { ApiEnv } from '#shared/environment.ts'
import type { ValidationError } from '#shared/errors.ts'
import { examineTarget } from '#shared/webhooks/operations/examine-target.ts'
import type { IngressDeps } from '../../deps.ts'

/** Why deliveries would not be sent to an address; null when they would. */
export async function urlRefusal(url: string, env: ApiEnv, deps: IngressDeps): Promise<ValidationError | null> {
  return await examineTarget(url, env, { allowPrivate: deps.config.allowPrivateTargets, resolve: deps.resolve })
}
