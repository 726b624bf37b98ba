import { PoolerError } from './pooler.ts'
import { ReplacedServerError } from './timeline-fence.ts'

const CLASSES: readonly [code: RegExp, words: string][] = [
  [/^28...$/, 'refuses the login'],
  [/^3D000$/, 'there is no such database'],
  [/^53300$/, 'has no connection left'],
  [/^53...$/, 'lacks disk or memory'],
  [/^57P0[1-3]$/, 'is starting or stopping'],
  [/^25006$/, 'is read-only'],
  [/^(40001|40P01|55P03|57014)$/, 'does not answer in time'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its name cannot be resolved'],
  [/^ETIMEDOUT$/, 'does not answer in time'],
  [/^(08...|EPIPE|ECONN.*|E(HOST|NET)UNREACH)$/, 'cannot be reached'],
  [/^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/, 'its certificate is not accepted'],
]

/**
 * What kind of failure keeps the database from serving, for operators: a few words and the code, never the driver's
 * message, which may hold the address or the login.
 */
export function databaseFailure(error: unknown): string {
  if (error instanceof ReplacedServerError) return `the address leads to a server that was replaced: ${error.message}`
  if (error instanceof PoolerError) return error.message
  if (error instanceof Error && /unsupported startup parameter/.test(error.message))
    return 'a pooler refuses the settings of a session: DATABASE_POOLER must say what it keeps'
  const code = codeOf(error)
  const [, words] = CLASSES.find(([pattern]) => pattern.test(code)) ?? []
  if (words !== undefined) return `${words} (${code})`
  if (!(error instanceof Error)) return 'cannot be reached'
  // What the pool and the driver say without a code.
  if (error.name === 'KnexTimeoutError') return 'no connection comes free in time'
  if (/timeout/i.test(error.message)) return 'does not answer in time'
  if (/does not support SSL/.test(error.message)) return 'does not speak TLS'
  return code === '' ? 'cannot be reached' : `fails (${code})`
}

/** A host with several addresses fails with an error of several, of which the first says enough. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
