/** Members of JSON Schema that a contract contains. */
export interface JsonSchema {
  $ref?: string
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  properties?: Readonly<Record<string, JsonSchema>>
  required?: readonly string[]
  additionalProperties?: JsonSchema | boolean
  items?: JsonSchema
  anyOf?: readonly JsonSchema[]
  oneOf?: readonly JsonSchema[]
  allOf?: readonly JsonSchema[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

const UPPER_LIMITS = ['maximum', 'maxLength', 'maxItems'] as const
const LOWER_LIMITS = ['minimum', 'minLength', 'minItems'] as const

type Limit = (typeof UPPER_LIMITS)[number] | (typeof LOWER_LIMITS)[number]

/** An argument, option, member, column or file. */
interface Part extends Partial<Record<Limit, number>> {
  /** JSON types; an empty list is any */
  types: readonly string[]
  isRequired?: boolean
  /** the complete list */
  values?: readonly string[]
  pattern?: string
}

/** By path, for example `checks[].name`; `` is the whole value. */
export type Parts = Readonly<Record<string, Part>>

/** A command, tool, operation or file: the parts that callers send, and the parts that they get. */
export interface Entry {
  accepts?: Parts
  returns?: Parts
}

/** Entries by their names, for example `command key create`. */
export type Contract = Readonly<Record<string, Entry>>

/** Returns the parts of a value by their paths. Members of alternatives are merged. */
export function partsOf(
  schema: JsonSchema,
  { path = '', isRequired = true, schemas = {} }: PartOptions = {},
  above: readonly string[] = [],
): Parts {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    if (above.includes(name)) return { [path]: { types: ['object'], isRequired } }
    return partsOf(schemas[name] ?? {}, { path, isRequired, schemas }, [...above, name])
  }
  const inner = (one: JsonSchema, place: string, required: boolean) =>
    partsOf(one, { path: place, isRequired: required, schemas }, above)
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives)
    return merged(
      alternatives.map((one) => inner(one, path, isRequired)),
      path,
    )
  const { properties = {}, required = [], items, additionalProperties: others } = schema
  const parts: Record<string, Part> = { [path]: partOf(schema, isRequired) }
  for (const all of schema.allOf ?? []) Object.assign(parts, inner(all, path, isRequired))
  for (const [name, member] of Object.entries(properties)) {
    Object.assign(parts, inner(member, path === '' ? name : `${path}.${name}`, required.includes(name)))
  }
  if (items) Object.assign(parts, inner(items, `${path}[]`, false))
  if (typeof others === 'object') Object.assign(parts, inner(others, `${path}.*`, false))
  return parts
}

interface PartOptions {
  path?: string
  isRequired?: boolean
  /** by the names of references */
  schemas?: Readonly<Record<string, JsonSchema>>
}

function partOf(schema: JsonSchema, isRequired: boolean): Part {
  const values = schema.const === undefined ? schema.enum : [schema.const]
  const types = schema.type === undefined ? [...new Set(values?.map(typeOf))] : [schema.type].flat()
  const limits = [...UPPER_LIMITS, ...LOWER_LIMITS].flatMap((name) => {
    const limit = schema[name]
    return limit === undefined || Math.abs(limit) === Number.MAX_SAFE_INTEGER ? [] : [[name, limit] as const]
  })
  return {
    types,
    ...(isRequired && { isRequired }),
    ...(values && { values: values.map(String) }),
    ...Object.fromEntries(limits),
    // The pattern of a format belongs to the library that writes the schema.
    ...(schema.format === undefined && schema.pattern !== undefined && { pattern: schema.pattern }),
  }
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'null'])

/** A member is required if each alternative with members requires it. Limits of alternatives are left out. */
function merged(alternatives: readonly Parts[], path: string): Parts {
  const withMembers = alternatives.filter((parts) => parts[path]?.types.every((type) => !SCALARS.has(type)))
  const names = new Set(alternatives.flatMap((parts) => Object.keys(parts)))
  return Object.fromEntries(
    [...names].map((name) => {
      const found = alternatives.flatMap((parts) => parts[name] ?? [])
      if (found.length === 1 && alternatives.length === 1) return [name, found[0] ?? { types: [] }]
      const isAny = found.some(({ types }) => types.length === 0)
      const holders = name === path ? alternatives : withMembers
      const valued = found.filter(({ types }) => String(types) !== 'null')
      const part: Part = {
        types: isAny ? [] : [...new Set(found.flatMap(({ types }) => types))],
        ...(holders.every((parts) => parts[name]?.isRequired) && { isRequired: true }),
        ...(valued.length > 0 &&
          valued.every(({ values }) => values) && { values: [...new Set(found.flatMap(({ values = [] }) => values))] }),
      }
      return [name, part]
    }),
  )
}

/** Returns a sentence for each promise of `before` that `after` breaks (docs/stability.md). */
export function brokenPromises(before: Contract, after: Contract): string[] {
  return Object.entries(before).flatMap(([name, { accepts = {}, returns = {} }]) => {
    const entry = after[name]
    if (!entry) return [`${name} is missing`]
    const problems = [
      ...narrowedInput(accepts, entry.accepts ?? {}),
      ...Object.entries(returns).flatMap(([path, part]) => changedOutput(path, part, entry.returns?.[path])),
    ]
    return problems.map((problem) => `${name}: ${problem}`)
  })
}

function narrowedInput(before: Parts, after: Parts): string[] {
  const added = Object.entries(after).filter(
    ([path, part]) => part.isRequired && !before[path] && (parentOf(path) === '' || before[parentOf(path)]),
  )
  return [
    ...Object.entries(before).flatMap(([path, part]) => narrowedPart(path, part, after[path])),
    ...added.map(([path]) => `${path} is now required`),
  ]
}

function parentOf(path: string): string {
  return path.replace(/(\.|^)[^.[]*$|\[\]$/, '')
}

function narrowedPart(path: string, before: Part, after: Part | undefined): string[] {
  const what = path || 'the value'
  if (!after) return [`${what} is no longer accepted`]
  const { values } = after
  const lost = values && before.values?.filter((value) => !values.includes(value))
  const limits = [
    ...UPPER_LIMITS.filter((name) => (after[name] ?? Infinity) < (before[name] ?? Infinity)),
    ...LOWER_LIMITS.filter((name) => (after[name] ?? -Infinity) > (before[name] ?? -Infinity)),
  ]
  return [
    ...(after.isRequired && !before.isRequired ? [`${what} is now required`] : []),
    ...missingTypes(before, after).map((type) => `${what} no longer accepts ${type}`),
    ...(values && !before.values ? [`${what} accepts only ${values.join(', ')}`] : []),
    ...(lost ?? []).map((value) => `${what} no longer accepts ${value}`),
    ...limits.map((name) => `${what} has the ${name} ${after[name]}, before ${before[name] ?? 'none'}`),
    ...(after.pattern !== undefined && after.pattern !== before.pattern
      ? [`${what} has the pattern ${after.pattern}, before ${before.pattern ?? 'none'}`]
      : []),
  ]
}

/** A member with several values may get more of them; a constant must stay. */
function changedOutput(path: string, before: Part, after: Part | undefined): string[] {
  const what = path || 'the value'
  if (!after) return [`${what} is no longer returned`]
  const [constant, ...others] = before.values ?? []
  const isChanged = constant !== undefined && others.length === 0 && !after.values?.includes(constant)
  return [
    ...(before.isRequired && !after.isRequired ? [`${what} may now be missing`] : []),
    ...missingTypes(after, before).map((type) => `${what} may now be ${type}`),
    ...(isChanged ? [`${what} is no longer always ${constant}`] : []),
  ]
}

/** Returns the types of one part that the other lacks. Each integer is a number. */
function missingTypes({ types }: Part, { types: others }: Part): string[] {
  if (others.length === 0) return []
  const wanted = types.length === 0 ? ['any other type'] : types
  return wanted.filter((type) => !others.includes(type) && !(type === 'integer' && others.includes('number')))
}
