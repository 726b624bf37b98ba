/** The members of JSON Schema that our OpenAPI document contains. */
export interface Schema {
  $ref?: string
  type?: string | readonly string[]
  description?: string
  format?: string
  pattern?: string
  enum?: readonly unknown[]
  const?: unknown
  default?: unknown
  example?: unknown
  examples?: readonly unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

export type Content = Readonly<Record<string, { schema: Schema; example?: unknown }>>

interface Documented {
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  deprecated?: boolean
  security: readonly Readonly<Record<string, readonly string[]>>[]
  parameters?: readonly Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Readonly<
    Record<
      string,
      { description: string; headers?: Readonly<Record<string, { description: string }>>; content?: Content }
    >
  >
}

export interface Operation extends Documented {
  method: string
  path: string
  tag: string
}

interface SecurityScheme {
  type: string
  name?: string
  description: string
}

interface OpenApi {
  paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>
  components: { schemas: Readonly<Record<string, Schema>>; securitySchemes: Readonly<Record<string, SecurityScheme>> }
}

export type Schemas = OpenApi['components']['schemas']

interface Tag {
  name: string
  operations: readonly Operation[]
}

export interface Reference {
  apis: readonly { name: string; tags: readonly Tag[] }[]
  operations: ReadonlyMap<string, Operation>
  schemas: Schemas
  securitySchemes: Readonly<Record<string, SecurityScheme>>
}

/** @param text our OpenAPI document */
export function readReference(text: string): Reference {
  const { paths, components } = JSON.parse(text) as OpenApi
  const { schemas, securitySchemes } = components
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]): Operation => {
      const [tag = 'Other'] = documented.tags
      return { ...documented, method, path, tag }
    }),
  )
  const tags = [...Map.groupBy(operations, ({ tag }) => tag)].map(([name, list]) => ({ name, operations: list }))
  const isRisk = (tag: Tag) => tag.operations.some(({ path }) => path.startsWith('/v1/'))
  return {
    apis: [
      { name: 'Monitoring', tags: tags.filter((tag) => !isRisk(tag)) },
      { name: 'Risk signals', tags: tags.filter(isRisk) },
    ],
    operations: new Map(operations.map((operation) => [operation.operationId, operation])),
    schemas,
    securitySchemes,
  }
}

export function anchorOf(tag: string): string {
  return tag.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

/** Returns the schema of a reference, and its name. */
export function resolve(schema: Schema, schemas: Schemas): { schema: Schema; name?: string } {
  if (schema.$ref === undefined) return { schema }
  const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  return { schema: { ...schemas[name], ...(schema.description && { description: schema.description }) }, name }
}

/** Returns the schemas of the items, of the values of a map, and of the alternatives except null. */
export function innerSchemas({ items, additionalProperties, anyOf = [], oneOf = [] }: Schema): readonly Schema[] {
  return [
    ...(items ? [items] : []),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
    ...[...anyOf, ...oneOf].filter(({ type }) => type !== 'null'),
  ]
}
