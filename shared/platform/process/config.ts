import { readFileSync } from 'node:fs'
import type { Settings } from './settings.ts'
import { settings } from './settings.ts'

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>

/** The settings under their names in code (`DATABASE_URL` is `databaseUrl`), parsed, with defaults applied. */
export type Config = { [Name in keyof Settings as CamelCase<Name>]: Settings[Name] } & { publicUrl: string }

/** The environment is not usable; `problems` has one line per setting, without any value. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`the settings are not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/**
 * Parses the whole environment once. `NAME_FILE` names a file that holds the value of `NAME`.
 * @throws ConfigError with every problem, not just the first; values are never quoted
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, { schema, ...rest }] of Object.entries(settings)) {
    const fallback = 'fallback' in rest ? rest.fallback : undefined
    const raw = readSetting(env, name, problems) ?? fallback
    const parsed = schema.safeParse(raw)
    if (parsed.success) values[camelCase(name)] = parsed.data
    else problems.push(raw === undefined ? `${name} is not set` : `${name} ${parsed.error.issues[0]?.message}`)
  }
  checkTogether(values, env, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  const publicUrl = typeof values.publicUrl === 'string' ? values.publicUrl : `http://localhost:${values.port}`
  // Every member was parsed by its own schema just above; TypeScript cannot follow the loop.
  return { ...values, publicUrl: publicUrl.replace(/\/+$/, '') } as Config
}

function readSetting(env: NodeJS.ProcessEnv, name: string, problems: string[]): string | undefined {
  const file = env[`${name}_FILE`]
  if (file === undefined || file === '') return env[name] === '' ? undefined : env[name]
  if (env[name] !== undefined && env[name] !== '') problems.push(`${name} and ${name}_FILE are both set`)
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unreadable'
    problems.push(`${name}_FILE cannot be read (${code})`)
    return undefined
  }
}

function checkTogether(values: Record<string, unknown>, env: NodeJS.ProcessEnv, problems: string[]): void {
  if (values.nodeEnv === 'production' && values.crashAt !== undefined)
    problems.push('CRASH_AT is refused in production')
  if (values.secretKey === 'change-me-change-me-change-me-change-me') {
    problems.push('SECRET_KEY is the example value')
  }
  if (Boolean(env.OIDC_ISSUER) !== Boolean(env.OIDC_CLIENT_ID)) {
    problems.push('OIDC_ISSUER and OIDC_CLIENT_ID go together')
  }
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
