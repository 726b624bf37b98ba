import type { ApiEnv } from '../../environment.ts'
import { ValidationError } from '../../errors.ts'
import { checkTarget, type Resolve, targetProblemTexts } from '../../platform/http/target-policy.ts'

/**
 * Why deliveries would not be sent to an address (docs/spec/transparency.md#webhook-endpoints); every connect checks again. The sandbox connects to
 * nothing, so there a name need not resolve yet.
 * @returns null when they would; the error never tells what a name resolved to
 */
export async function examineTarget(
  url: string,
  env: ApiEnv,
  { allowPrivate, resolve }: { allowPrivate: boolean | readonly string[]; resolve: Resolve },
): Promise<ValidationError | null> {
  const result = await checkTarget(url, { allowPrivate, plainHttp: 'allowed-networks' }, resolve)
  if (result.ok || (result.reason === 'unresolvable' && env === 'SANDBOX')) return null
  const message = `url ${targetProblemTexts[result.reason]}`
  const code = result.reason.toUpperCase().replaceAll('-', '_')
  return new ValidationError(message, [{ path: 'url', code, message }])
}
