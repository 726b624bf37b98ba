import type { ApiEnv } from '#shared/environment.ts'
import { ValidationError } from '#shared/errors.ts'
import { checkTarget, targetProblemTexts } from '#shared/platform/http/target-policy.ts'
import type { IngressDeps } from '../../deps.ts'

/**
 * Why deliveries would not be sent to an address (domain 6.5); every connect checks again. The sandbox connects to
 * nothing, so there a name need not resolve yet.
 * @returns null when they would; the error never tells what a name resolved to
 */
export async function urlRefusal(url: string, env: ApiEnv, deps: IngressDeps): Promise<ValidationError | null> {
  const policy = { allowPrivate: deps.config.allowPrivateTargets, plainHttp: 'allowed-networks' } as const
  const result = await checkTarget(url, policy, deps.resolve)
  if (result.ok || (result.reason === 'unresolvable' && env === 'SANDBOX')) return null
  const message = `url ${targetProblemTexts[result.reason]}`
  return new ValidationError(message, [{ path: 'url', code: reasonCode(result.reason), message }])
}

function reasonCode(reason: string): string {
  return reason.toUpperCase().replaceAll('-', '_')
}
