import { z } from 'zod'
import { splitHosts } from '../database/hosts.ts'

export interface Setting<T> {
  schema: z.ZodType<T>
  /** text; absent if the setting is required, or off without a value */
  fallback?: string
  secret?: true
  /** replacement, and the release since which the setting is deprecated */
  deprecated?: string
  doc: string
}

export function setting<T>(
  schema: z.ZodType<T>,
  doc: string,
  options: { fallback?: string; secret?: true; deprecated?: string } = {},
): Setting<T> {
  return { schema, doc, ...options }
}

export const text = z.string().trim().min(1, 'is empty')
export const optionalText = text.optional()
export const optionalInteger = text
  .regex(/^-?\d+$/, 'is not a whole number')
  .transform(Number)
  .optional()
export const url = (protocols: string[]) =>
  text.refine(
    (value) => {
      const parsed = URL.parse(value)
      return parsed !== null && protocols.includes(parsed.protocol)
    },
    `is not a URL with ${protocols.join(' or ')}`,
  )

/** One URL, or several separated by commas: the nodes of a cluster, with the same users and databases. */
export const urls = (protocols: string[]) =>
  text.refine(
    (value) => {
      const parsed = value.split(',').map((item) => URL.parse(item.trim()))
      const same = (name: 'protocol' | 'username' | 'password' | 'pathname') =>
        new Set(parsed.map((item) => item?.[name])).size === 1
      return (
        parsed.every((item) => item !== null && protocols.includes(item.protocol)) &&
        same('protocol') &&
        same('username') &&
        same('password') &&
        same('pathname')
      )
    },
    `is not a URL with ${protocols.join(' or ')}, or several with the same login and path and commas between them`,
  )
/** A PostgreSQL URL of one server, or of several with commas between the hosts, as libpq writes it. */
export const databaseUrl = text.refine(
  (value) => /^postgres(ql)?:\/\//.test(value) && splitHosts(value).every((address) => URL.parse(address) !== null),
  'is not a URL with postgres: or postgresql:',
)
export const integer = (min: number, max: number) =>
  text
    .regex(/^\d+$/, 'is not a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `is below ${min}`).max(max, `is above ${max}`))
export const port = integer(0, 65535)
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)
export const privateTargets = z.string().transform((value) => {
  const trimmed = value.trim()
  if (trimmed === '' || trimmed === 'false') return false
  if (trimmed === 'true') return true
  return trimmed.split(',').map((item) => item.trim())
})
export const secretKey = text.min(32, 'is shorter than 32 characters')
