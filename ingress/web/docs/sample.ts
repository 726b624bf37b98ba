import { resolve, type Schema, type Schemas } from './reference.ts'

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-11-21T06:30:00Z',
  date: '2026-11-21',
  email: 'ops@example.org',
  uuid: '803f680d-e89b-492b-82ef-2be7b774a92d',
  uri: 'https://example.org/',
}
const PATTERNS: Readonly<Record<string, string>> = {
  '^[0-9a-f]{64}$': '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  '^[A-Za-z0-9_-]{43}$': 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  '^[0-9]{4}-[0-9]{2}$': '2026-11',
}
/** Texts without a format, by the name of the member. */
const NAMES: readonly (readonly [name: RegExp, value: string])[] = [
  [/(At|_at|Until)$|^(at|timestamp|start|end)$/, '2026-11-21T06:30:00Z'],
  [/(On|Date|asOf)$/, '2026-11-21'],
  [/([sS]ha256|Root)$|^(txId|root|commitment|salt|digest|hash)$/, String(PATTERNS['^[0-9a-f]{64}$'])],
  [/(Id|_key)$|^(id|key)$/, String(FORMATS.uuid)],
  [/Gstin$|^gstin$/, '29AAACR5678D1Z5'],
  [/^(by|person|address|assignee)$/, 'anna@example.org'],
  [/[uU]rl$|^iss$/, 'https://example.org/'],
  [/Paise$/, '11800000'],
  [/^tz$/, 'Europe/Berlin'],
  [/^currency$/, 'INR'],
  [/^network$/, 'public-registry'],
  [/^tier$/, 'REGISTRY_VERIFIED'],
]
/** Nested objects of a response end here. */
const MAX_DEPTH = 6

/**
 * Returns a value that the schema allows. Examples of the schema win.
 * @param part `required` leaves out optional members
 */
export function sampleOf(
  schema: Schema,
  schemas: Schemas,
  part: 'required' | 'all',
  name = 'text',
  depth = 0,
): unknown {
  const { schema: target } = resolve(schema, schemas)
  const { example, examples: [first] = [], enum: values, anyOf, oneOf } = target
  const [type] = [target.type ?? []].flat()
  const given = example ?? first ?? target.const ?? values?.find((value) => value !== '') ?? target.default
  if (given !== undefined) return given
  const [alternative] = [...(anyOf ?? []), ...(oneOf ?? [])].filter((one) => one.type !== 'null')
  const nested = (inner: Schema, member = name) => sampleOf(inner, schemas, part, member, depth + 1)
  if (alternative) return nested(alternative)
  switch (type) {
    case 'object': {
      const { properties = {}, required = [] } = target
      const isTooDeep = depth >= MAX_DEPTH
      const members = Object.entries(properties).filter(([member]) =>
        part === 'required' || isTooDeep ? required.includes(member) : true,
      )
      return Object.fromEntries(members.map(([member, inner]) => [member, nested(inner, member)]))
    }
    case 'array':
      return target.items && depth < MAX_DEPTH ? [nested(target.items)] : []
    case 'integer':
    case 'number':
      return Math.min(Math.max(target.minimum ?? 1, 1), target.maximum ?? 1)
    case 'boolean':
      return true
    case 'null':
      return null
    case 'string':
      return FORMATS[target.format ?? ''] ?? PATTERNS[target.pattern ?? ''] ?? textOf(target, name)
    default:
      return {}
  }
}

function textOf({ type }: Schema, name: string): string | null {
  const known = NAMES.find(([pattern]) => pattern.test(name))?.[1]
  return known ?? (type === 'string' ? name : null)
}
