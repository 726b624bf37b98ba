import { z } from 'zod'

export type ListedMember = z.ZodUnknown | z.ZodOptional<z.ZodUnknown>

/**
 * Lists the members of a request of the API as the API documents them. Their values are not checked here: the tool
 * parses its arguments with the schema of the API, so that both refuse the same values with the same errors.
 */
export function listedMembers<Shape extends z.ZodRawShape>(shape: Shape): { [Name in keyof Shape]: ListedMember } {
  const { properties = {}, required = [], $defs = {} } = z.toJSONSchema(z.object(shape), { io: 'input' })
  const listed = Object.entries(properties).map(([name, property]) => {
    const schema = z.unknown().meta(typeof property === 'object' ? { ...inlined(property, $defs) } : {})
    return [name, required.includes(name) ? schema : schema.optional()]
  })
  // Object.fromEntries does not keep the names in its type.
  return Object.fromEntries(listed) as { [Name in keyof Shape]: ListedMember }
}

/** Replaces references to named schemas: clients that show a tool to a model often do not resolve them. */
function inlined<Node>(node: Node, defs: Readonly<Record<string, unknown>>): Node {
  if (Array.isArray(node)) return node.map((each) => inlined(each, defs)) as Node & unknown[] // maps like to like
  if (typeof node !== 'object' || node === null) return node
  const { $ref, ...rest } = node as Record<string, unknown> // an object of JSON
  const named = typeof $ref === 'string' ? (defs[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}) : {}
  const whole = { ...named, ...rest }
  return Object.fromEntries(Object.entries(whole).map(([name, value]) => [name, inlined(value, defs)])) as Node
}
