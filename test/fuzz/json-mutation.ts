import type { Random } from '../support/random.ts'
import { hostileJson, hostileText } from './hostile.ts'

type Json = Record<string, unknown>

/** Limits recursive schemas. */
const MAX_DEPTH = 6

/** Returns a value that roughly fits a JSON Schema of the OpenAPI document; `document` resolves its references. */
export function valueFor(random: Random, schema: unknown, document: Json, depth = 0): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return hostileText(random)
  if (typeof schema.$ref === 'string') return valueFor(random, resolve(schema.$ref, document), document, depth + 1)
  const examples = Array.isArray(schema.examples) ? schema.examples : []
  if (examples.length > 0 && !random.oneIn(4)) return random.pick(examples)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return random.pick(schema.enum)
  for (const choices of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(choices) && choices.length > 0) return valueFor(random, random.pick(choices), document, depth + 1)
  }
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type
  switch (type) {
    case 'object':
      return objectFor(random, schema, document, depth)
    case 'array':
      return Array.from({ length: random.int(4) }, () => valueFor(random, schema.items, document, depth + 1))
    case 'integer':
    case 'number':
      return random.pick([schema.minimum ?? 1, schema.maximum ?? 3_600, 60, 0, -1])
    case 'boolean':
      return random.oneIn(2)
    case 'null':
      return null
    default:
      return random.pick(['name', 'a b', '1', hostileText(random)])
  }
}

/** Returns the value with one change: a replaced, added or removed part. */
export function mutated(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && !random.oneIn(4)) {
    const at = random.int(value.length)
    return value.map((item, index) => (index === at ? mutated(random, item) : item))
  }
  if (!isObject(value) || random.oneIn(6)) return hostileJson(random)
  const names = Object.keys(value)
  const kind = random.int(6)
  if (kind === 0 || names.length === 0) return { ...value, [hostileText(random).slice(0, 80)]: hostileJson(random) }
  const name = random.pick(names)
  if (kind === 1) return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name))
  return { ...value, [name]: kind === 2 ? mutated(random, value[name]) : hostileJson(random) }
}

function objectFor(random: Random, schema: Json, document: Json, depth: number): Json {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const chosen = Object.entries(properties).filter(([name]) => required.has(name) || random.oneIn(2))
  return Object.fromEntries(chosen.map(([name, each]) => [name, valueFor(random, each, document, depth + 1)]))
}

function resolve(reference: string, document: Json): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), document)
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
