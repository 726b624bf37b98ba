import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { z } from 'zod'

/** The environment is not usable; each problem names its setting and no value. */
export class SettingsError extends Error {
  constructor(problems: readonly string[]) {
    super(`the settings are not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

const secret = z.string().min(32, 'must have 32 characters or more')
const address = z.string().refine(isAllowedAddress, 'must be an https address; http is for loopback only')

const schema = z.object({
  GATEWAY_TOKEN: secret,
  GATEWAY_ADMIN_TOKEN: secret,
  GATEWAY_KEY: z
    .string()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine((key) => key.length === 32, 'must be 32 bytes in base64'),
  GATEWAY_STATE: z.string().default('registry-gateway-state'),
  GATEWAY_HOST: z.string().default('127.0.0.1'),
  GATEWAY_PORT: z.coerce.number().int().min(0).max(65_535).default(8095),
  GATEWAY_PUBLIC_URL: address.optional(),
  GLEIF_URL: address.optional(),
  GATEWAY_LEI_PATH: z
    .string()
    .regex(/^[0-9a-f]{32}$/, 'must be 32 hex characters')
    .optional(),
  SANDBOX_API_KEY: z.string().optional(),
  SANDBOX_API_SECRET: z.string().optional(),
  SANDBOX_URL: address.default('https://api.sandbox.co.in'),
  SANDBOX_MCA_REASON: z.string().min(20, 'must have 20 characters or more').optional(),
  COMPANY_NUMBERS: z.string().optional(),
  SETU_CLIENT_ID: z.string().optional(),
  SETU_SECRET: z.string().optional(),
  SETU_PRODUCT_INSTANCE: z.string().optional(),
  SETU_URL: address.default('https://fiu.setu.co/v2'),
  SETU_LOGIN_URL: address.default('https://orgservice-prod.setu.co/v1/users/login'),
  SETU_PURPOSE_CODE: z.enum(['101', '102', '103', '104', '105']).optional(),
  SETU_DATA_LIFE_DAYS: z.coerce.number().int().min(1).max(366).default(7),
  INVOICE_KEYS: z.string().refine(existsSync, 'must be a folder of certificates').optional(),
  COMPANIES_HOUSE_KEY: z.string().optional(),
  COMPANIES_HOUSE_URL: address.default('https://api.company-information.service.gov.uk'),
})

type Name = keyof typeof schema.shape

export type Settings = z.output<typeof schema> & { companyNumbers: ReadonlyMap<string, string> | undefined }

/** Hosts and keys of a provider's test environment, whose data must not reach production. */
const TEST_HOSTS = ['test-api.sandbox.co.in', 'fiu-sandbox.setu.co', 'dg-sandbox.setu.co']

/**
 * Reads the settings, each also from the file that `NAME_FILE` names. Empty means unset.
 * @throws SettingsError with every problem
 */
export function loadSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const problems: string[] = []
  const given: Partial<Record<Name, string>> = {}
  for (const name of schema.keyof().options) {
    const value = settingOf(env, name, problems)
    if (value !== undefined) given[name] = value
  }
  const result = schema.safeParse(given)
  for (const { path, message } of result.error?.issues ?? []) {
    const [name = ''] = path.map(String)
    problems.push(Object.hasOwn(given, name) ? `${name} ${message}` : `${name} is not set`)
  }
  together(given, problems, ['SANDBOX_API_KEY', 'SANDBOX_API_SECRET'])
  together(given, problems, ['SANDBOX_MCA_REASON', 'COMPANY_NUMBERS'])
  together(given, problems, ['SETU_CLIENT_ID', 'SETU_SECRET', 'SETU_PRODUCT_INSTANCE', 'SETU_PURPOSE_CODE'])
  const companyNumbers = given.COMPANY_NUMBERS ? companyNumbersOf(given.COMPANY_NUMBERS, problems) : undefined
  if (!result.success || problems.length > 0) throw new SettingsError(problems)
  return { ...result.data, companyNumbers }
}

/** Returns the settings that belong to a provider's test environment. */
export function testSettings(settings: Settings): string[] {
  const urls = ['SANDBOX_URL', 'SETU_URL', 'SETU_LOGIN_URL'] as const
  const names: string[] = urls.filter((name) => TEST_HOSTS.includes(new URL(settings[name]).hostname))
  if (settings.SANDBOX_API_KEY?.startsWith('key_test')) names.push('SANDBOX_API_KEY')
  return names
}

/** Returns true for https, and for http on a loopback address. */
export function isAllowedAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username } = new URL(text)
  if (username !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && /^(127\.[0-9.]+|localhost|\[::1\])$/.test(hostname))
}

function settingOf(
  env: Readonly<Record<string, string | undefined>>,
  name: Name,
  problems: string[],
): string | undefined {
  const file = env[`${name}_FILE`] || undefined
  const value = env[name] || undefined
  if (file === undefined) return value
  if (!existsSync(file)) problems.push(`${name}_FILE cannot be read`)
  if (value !== undefined) problems.push(`${name} and ${name}_FILE are both set`)
  return existsSync(file) ? readFileSync(file, 'utf8').replace(/\r?\n$/, '') || undefined : undefined
}

function together(given: Partial<Record<Name, string>>, problems: string[], names: readonly Name[]): void {
  const missing = names.filter((name) => given[name] === undefined)
  if (missing.length > 0 && missing.length < names.length) {
    problems.push(
      `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set; ${names.join(', ')} go together`,
    )
  }
}

const row = z.object({ pan: z.string().regex(/^[A-Z]{5}[0-9]{4}[A-Z]$/), cin: z.string().regex(/^[A-Z0-9]{8,21}$/) })

function companyNumbersOf(file: string, problems: string[]): ReadonlyMap<string, string> {
  try {
    const rows = z.array(row).parse(parse(readFileSync(file), { columns: true, bom: true, trim: true }))
    return new Map(rows.map(({ pan, cin }) => [pan, cin]))
  } catch {
    problems.push('COMPANY_NUMBERS must name a CSV file with the columns pan,cin')
    return new Map()
  }
}
