import { resolve } from 'node:path'
import { settings } from '#shared/platform/process/settings.ts'
import { type Origin, origins } from './resolve-services.ts'

const root = resolve(import.meta.dirname, '..')

/**
 * Returns the settings of an environment, as values or as file paths (`NAME_FILE`). Paths become absolute, because
 * processes may run in another folder.
 */
export function knownSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  const known: Record<string, string> = {}
  for (const name of Object.keys(settings)) {
    const value = env[name]
    const file = env[`${name}_FILE`]
    if (value) known[name] = value
    else if (file) known[`${name}_FILE`] = resolve(root, file)
  }
  return known
}

/**
 * Returns the settings of every process, except the URLs of services.
 * @param previous settings of the last start. The key is reused, because data is encrypted with it, and the ports,
 *   because clients use them.
 * @param freshKey key of a new stack
 */
export function stackSettings(
  env: NodeJS.ProcessEnv,
  previous: Readonly<Record<string, string>>,
  freshKey: string,
): Record<string, string> {
  const { DATABASE_URL_FILE: _, AMQP_URL_FILE: __, DATABASE_OWNER_URL_FILE: ___, ...known } = knownSettings(env)
  const key: Record<string, string> = known.SECRET_KEY_FILE ? {} : { SECRET_KEY: previous.SECRET_KEY ?? freshKey }
  const listen: Record<'HOST' | 'PORT' | 'SMTP_PORT', string> = {
    HOST: '127.0.0.1', // a trial uses passwords of development servers, so it listens on the loopback only
    PORT: previous.PORT ?? settings.PORT.fallback ?? '',
    SMTP_PORT: previous.SMTP_PORT ?? settings.SMTP_PORT.fallback ?? '',
  }
  return { ...listen, ...key, ...known }
}

/**
 * Keeps the memory for a tape below 64 MB. By default the young generation grows to 128 MB on a large machine, and the old one
 * to several times the used memory (docs/performance.md).
 */
export const IMPORTER_HEAP: readonly string[] = ['--max-semi-space-size=4', '--max-old-space-size=256']

/**
 * Makes an ingress release memory after a flood of connections (docs/performance.md). By default the generations keep
 * their maximum size, which looks like a leak.
 */
export const INGRESS_HEAP: readonly string[] = ['--max-semi-space-size=8', '--max-old-space-size=512']

/** Node option by which every process of the product reads TypeScript, from the root of the repository. */
export const LOADER = ['--import', './shared/platform/process/load-typescript.mjs'] as const

/**
 * Node options of one process for everything: that of an ingress, and room for one tape import beside it. At rest the
 * young generation would shrink to 1 MB, and its collections would be a quarter of the CPU time.
 */
export const ALL_HEAP: readonly string[] = [
  '--min-semi-space-size=8',
  '--max-semi-space-size=8',
  '--max-old-space-size=768',
]

/**
 * Returns the ways in order. The origin of the last run comes before new ones, because it has the data.
 * @param allowed comma-separated ways (STACK_SERVICES); default all
 * @throws Error for an unknown way
 */
export function orderOfOrigins(allowed: string | undefined, last: Origin | undefined): Origin[] {
  const wanted = allowed?.split(',').map((name) => name.trim())
  const unknown = wanted?.find((name) => !origins.some((origin) => origin === name))
  if (unknown !== undefined) throw new Error(`STACK_SERVICES must list ${origins.join(', ')}, not ${unknown}`)
  const order = new Set<Origin>(last === undefined ? origins : ['environment', last, ...origins])
  return [...order].filter((origin) => wanted === undefined || wanted.includes(origin))
}
