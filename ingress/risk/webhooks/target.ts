import { ValidationError } from '#shared/errors.ts'
import type { ApiEnv } from '#shared/oauth/access-token.ts'
import { openSystemResolver } from '#shared/platform/system-resolver.ts'
import { checkTarget, type Resolve, targetProblemTexts } from '#shared/platform/target-policy.ts'
import type { IngressDeps } from '../../deps.ts'
import { perProcess } from '../../middleware/per-process.ts'

const resolver: (deps: IngressDeps) => Resolve = perProcess(() => openSystemResolver())

/**
 * Why deliveries would not be sent to an address (domain 6.5); every connect checks again. The sandbox connects to
 * nothing, so there a name need not resolve yet.
 * @returns null when they would; the error never tells what a name resolved to
 */
export async function urlRefusal(url: string, env: ApiEnv, deps: IngressDeps): Promise<ValidationError | null> {
  const policy = { allowPrivate: deps.config.allowPrivateTargets, plainHttp: 'allowed-networks' } as const
  const verdict = await checkTarget(url, policy, resolver(deps))
  if (verdict.ok || (verdict.reason === 'unresolvable' && env === 'SANDBOX')) return null
  const message = `url ${targetProblemTexts[verdict.reason]}`
  return new ValidationError(message, [{ path: 'url', code: reasonCode(verdict.reason), message }])
}

function reasonCode(reason: string): string {
  return reason.toUpperCase().replaceAll('-', '_')
}
