import { resolve } from 'node:path'
import { settings } from '#shared/platform/process/settings.ts'

const root = resolve(import.meta.dirname, '..')

/**
 * The settings named in an environment, each as a value or as the path of a file (`NAME_FILE`). Paths become absolute,
 * since the processes need not share our folder.
 */
function knownSettings(env: NodeJS.ProcessEnv): Record<string, string> {
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
 * The settings of every process of a stack, but for where its services are.
 * @param previous what the last `make up` stored: of it only the key is kept, because data is encrypted under it
 * @param freshKey the key of a stack that has none yet
 */
export function stackSettings(
  env: NodeJS.ProcessEnv,
  previous: Readonly<Record<string, string>>,
  freshKey: string,
): Record<string, string> {
  const { DATABASE_URL_FILE: _, AMQP_URL_FILE: __, DATABASE_OWNER_URL_FILE: ___, ...known } = knownSettings(env)
  const key: Record<string, string> = known.SECRET_KEY_FILE ? {} : { SECRET_KEY: previous.SECRET_KEY ?? freshKey }
  const listen: Record<'HOST' | 'PORT' | 'SMTP_PORT', string> = {
    HOST: '127.0.0.1', // a trial is for whoever started it, with the passwords of development servers
    PORT: settings.PORT.fallback ?? '',
    SMTP_PORT: settings.SMTP_PORT.fallback ?? '',
  }
  return { ...listen, ...key, ...known }
}
