import { z } from 'zod'
import { productVersion } from '#shared/platform/process/version.ts'
import { monitoringRoutes, publicRoutes } from './api-monitoring/routes.ts'
import { platformSecuritySchemes } from './api-risk/access.ts'
import { bodyExamples } from './body-examples.ts'
import { tagDescriptions } from './openapi-tags.ts'
import { platformRoutes } from './platform-routes.ts'
import storedExamples from './response-examples.json' with { type: 'json' }
import type { Content, Route } from './route.ts'

type Json = Record<string, unknown>

export const documentedRoutes: readonly Route[] = [...monitoringRoutes, ...publicRoutes, ...platformRoutes]

/**
 * Recorded responses by id of the operation, and parts of responses by name of the schema. The schema's example appears
 * in all operations without a separate one (test/ingress/openapi/response-examples.test.ts).
 */
const responseExamples: Readonly<Record<string, object>> = storedExamples

/** A test compares the committed document with the routes. */
export const openApiFile = new URL('../docs/openapi.json', import.meta.url)

/**
 * Returns the routes as an OpenAPI 3.1 document. Schemas with an `id` become components.
 * @throws Error if two different schemas have the same id
 */
export function openApiDocument(routes: readonly Route[] = documentedRoutes): Json {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const route of routes.filter(({ documentedBy }) => documentedBy === undefined)) {
    const operations = paths[route.path] ?? {}
    operations[route.method] = operation(route, schemas)
    paths[route.path] = operations
  }
  const used = new Set(routes.flatMap((route) => route.security))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalbox',
      version: productVersion(),
      description:
        'Heartbeat monitoring under `/api/v3/` and risk-signal evidence under `/v1/`. Pings go to `/ping/<uuid>` ' +
        'and are described in the documentation.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.flatMap((route) => route.tags))].map((name) => ({
      name,
      description: tagDescriptions[name],
    })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => used.has(name))),
    },
  }
}

function operation(route: Route, schemas: Json): Json {
  const parameters = [
    ...Object.entries(route.params).map(([name, param]) => ({
      name,
      in: 'path',
      required: true,
      description: param.description,
      schema: { type: 'string', ...(param.schema ?? { pattern: `^${param.pattern}$` }), examples: [param.example] },
    })),
    ...fieldParameters(route.query, 'query', schemas),
    ...fieldParameters(route.headers, 'header', schemas),
  ]
  const success = Object.keys(route.responses).find((status) => status.startsWith('2'))
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: route.tags,
    ...(route.deprecated ? { deprecated: true } : {}),
    security: route.security.map((name) => ({ [name]: route.scopes ?? [] })),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.body.required,
            content: mediaTypes(route.body.content, schemas, bodyExamples[route.operationId]),
          },
        }),
    responses: Object.fromEntries(
      Object.entries(route.responses).map(([status, response]) => [
        status,
        {
          description: response.description,
          ...(response.headers === undefined ? {} : { headers: headerDocuments(response.headers) }),
          ...(response.content && {
            content: mediaTypes(
              response.content,
              schemas,
              status === success ? responseExamples[route.operationId] : undefined,
            ),
          }),
        },
      ]),
    ),
  }
}

function fieldParameters(object: z.ZodObject | undefined, place: 'query' | 'header', schemas: Json): Json[] {
  if (!object) return []
  return Object.entries(object.shape).map(([name, field]) => {
    const { description, ...schema } = schemaDocument(field, schemas)
    const optional = z.safeParse(field, undefined).success
    return {
      name,
      in: place,
      ...(optional ? {} : { required: true }),
      ...(description === undefined ? {} : { description }),
      schema,
    }
  })
}

function headerDocuments(headers: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  )
}

function mediaTypes(content: Content, schemas: Json, example?: object): Json {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [
      type,
      { schema: schema ? schemaDocument(schema, schemas) : unparsed(type), ...(example && { example }) },
    ]),
  )
}

/** Returns the schema of content without one: any JSON, or a text. */
function unparsed(type: string): Json {
  return type.includes('json') ? {} : { type: 'string' }
}

/** These members add no information. */
function shorten({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === 'uuid') delete jsonSchema.pattern
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

/** Wraps the schema, because only a member with an id becomes a reference. */
function schemaDocument(schema: z.ZodType | z.core.$ZodType, schemas: Json): Json {
  const document = z.toJSONSchema(z.object({ it: schema }), { io: 'input', unrepresentable: 'any', override: shorten })
  for (const [id, definition] of Object.entries(document.$defs ?? {})) {
    const example = responseExamples[id]
    const rewritten = { ...withComponentReferences(definition), ...(example && { examples: [example] }) }
    const known = schemas[id]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rewritten)) {
      throw new Error(`two schemas are called ${id}`)
    }
    schemas[id] = rewritten
  }
  const inner = document.properties?.it
  return typeof inner === 'object' ? withComponentReferences(inner) : {}
}

function withComponentReferences(definition: object): Json {
  return JSON.parse(JSON.stringify(definition).replaceAll('"#/$defs/', '"#/components/schemas/'))
}

/** By the names in `security` of routes. */
const securitySchemes: Readonly<Record<string, object>> = {
  projectKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description:
      "A project's read-write key. POST requests with a JSON body may carry it as the body's member `api_key` instead.",
  },
  projectKeyReadOnly: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: "A project's read-only key.",
  },
  projectBearer: { type: 'http', scheme: 'bearer', description: "A project's read-only key." },
  ...platformSecuritySchemes,
}
