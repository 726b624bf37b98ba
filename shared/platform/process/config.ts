import { readFileSync } from 'node:fs'
import { checkValue } from '../../validation.ts'
import { basePathOf } from './public-url.ts'
import type { Setting } from './setting.ts'
import type { Settings } from './settings.ts'
import { settings } from './settings.ts'
import { isLoopback, type SettingInput, unsafeSettings } from './unsafe-settings.ts'

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>

/** The settings under their names in code (`DATABASE_URL` is `databaseUrl`), parsed, with defaults applied. */
export type Config = { [Name in keyof Settings as CamelCase<Name>]: Settings[Name] } & {
  /** without a final slash */
  publicUrl: string
  /** path of `publicUrl`, for example `/hc`; empty at the root of a host */
  basePath: string
  /** one line for each deprecated setting that is set */
  warnings: readonly string[]
}

const EXAMPLE_KEY = 'change-me-change-me-change-me-change-me'

/** The environment is not usable; `problems` has one line per setting, without any value. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`the settings are not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/** `NAME_FILE` names a file with the value of `NAME`. @throws ConfigError with every problem, without values */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  const given = new Map<string, SettingInput>()
  for (const [name, { schema, ...rest }] of Object.entries(settings)) {
    const fallback = 'fallback' in rest ? rest.fallback : undefined
    const text = readSetting(env, name, problems)
    const raw = text ?? fallback
    const checked = checkValue(schema, raw)
    if (checked.ok) values[camelCase(name)] = checked.value
    if (checked.ok && text !== undefined)
      given.set(name, { text, file: env[`${name}_FILE`] || undefined, secret: 'secret' in rest })
    if (!checked.ok) problems.push(raw === undefined ? `${name} is not set` : `${name} ${checked.faults[0]?.problem}`)
  }
  checkTogether(values, env, problems)
  if (values.secretKey === EXAMPLE_KEY) given.delete('SECRET_KEY')
  if (typeof values.host === 'string') problems.push(...unsafeSettings(values.host, given))
  if (problems.length > 0) throw new ConfigError(problems)
  const address = typeof values.publicUrl === 'string' ? values.publicUrl : `http://localhost:${values.port}`
  values.warnings = deprecatedSettings(env)
  const publicUrl = address.replace(/\/+$/, '')
  // Every member was parsed by its own schema just above; TypeScript cannot follow the loop.
  return { ...values, publicUrl, basePath: basePathOf(publicUrl) } as Config
}

/** @param known by name; `deprecated` states the replacement */
export function deprecatedSettings(
  env: NodeJS.ProcessEnv,
  known: Readonly<Record<string, Pick<Setting<unknown>, 'deprecated'>>> = settings,
): string[] {
  return Object.entries(known).flatMap(([name, { deprecated }]) =>
    deprecated !== undefined && (env[name] || env[`${name}_FILE`]) ? [`${name} is deprecated: ${deprecated}`] : [],
  )
}

function readSetting(env: NodeJS.ProcessEnv, name: string, problems: string[]): string | undefined {
  const file = env[`${name}_FILE`]
  if (file === undefined || file === '') return env[name] === '' ? undefined : env[name]
  const value = env[name] === '' ? undefined : env[name]
  try {
    // An empty file sets nothing, as an empty variable: compose.yaml mounts one for each secret that may be set.
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '') || undefined
    if (value !== undefined && text !== undefined) problems.push(`${name} and ${name}_FILE are both set`)
    return text ?? value
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unreadable'
    problems.push(`${name}_FILE cannot be read (${code})`)
    return undefined
  }
}

function checkTogether(values: Record<string, unknown>, env: NodeJS.ProcessEnv, problems: string[]): void {
  if (values.nodeEnv === 'production' && values.crashAt !== undefined)
    problems.push('CRASH_AT is refused in production')
  if (values.nodeEnv === 'production' && values.clockSkewMs !== undefined)
    problems.push('CLOCK_SKEW_MS is refused in production')
  if (values.secretKey === EXAMPLE_KEY) problems.push('SECRET_KEY is the example value')
  if (typeof values.metricsHost === 'string' && !isLoopback(values.metricsHost) && values.metricsOpen !== true) {
    problems.push('METRICS_HOST is not a loopback address: METRICS_OPEN=true accepts that others read the metrics')
  }
  if ((values.smtpTlsCert === undefined) !== (values.smtpTlsKey === undefined)) {
    problems.push('SMTP_TLS_CERT and SMTP_TLS_KEY go together')
  }
  if ((values.oid4vpCert === undefined) !== (values.oid4vpKey === undefined)) {
    problems.push('OID4VP_CERT and OID4VP_KEY go together')
  }
  if (Boolean(env.OIDC_ISSUER) !== Boolean(env.OIDC_CLIENT_ID)) {
    problems.push('OIDC_ISSUER and OIDC_CLIENT_ID go together')
  }
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
