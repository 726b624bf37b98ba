import { type Request, type Response, Router } from 'express'
import type { z } from 'zod'
import type { FieldCode } from '#shared/field-codes.ts'
import { withTenantUnknown } from '#shared/platform/database/tenant.ts'
import type { IngressDeps } from './deps.ts'
import { pathText } from './middleware/form-text.ts'
import { observe } from './observe.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A variable part of a path. A value that does not match `pattern` gets a 404. */
export interface PathParam {
  /** regular expression without groups and anchors, for the encoded path */
  pattern: string
  description: string
  example: string
  /** replaces the pattern in the document */
  schema?: Readonly<Record<string, string>>
  /** returns the error of a value that matches the pattern; the message follows the name */
  fault?(text: string): { code: FieldCode; message: string } | null
}

/** By media type; null for content without a JSON Schema (text, images, bytes). */
export type Content = Readonly<Record<string, z.ZodType | null>>

export interface ResponseDocument {
  description: string
  content?: Content
  headers?: Readonly<Record<string, string>>
}

/** The published description of an operation. */
interface RouteDocument<P extends string> {
  method: Method
  /** in OpenAPI's form, `/api/v3/checks/{uuid}`; a trailing slash matters */
  path: P
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  /** date, `YYYY-MM-DD`, since which the operation is deprecated: the header `Deprecation` (RFC 9745) states it */
  deprecated?: string
  /** answers every method, and is documented under this one */
  anyMethod?: boolean
  /**
   * id of the operation that documents this one, because OpenAPI forbids paths that differ only in a parameter's form
   */
  documentedBy?: string
  /** any one is sufficient; empty for public operations */
  security: readonly string[]
  scopes?: readonly string[]
  params: Readonly<Record<ParamNames<P>, PathParam>>
  query?: z.ZodObject
  headers?: z.ZodObject
  body?: { required: boolean; content: Content }
  responses: Readonly<Record<number, ResponseDocument>>
}

export type ParamNames<P extends string> = string extends P
  ? string
  : P extends `${string}{${infer Name}}${infer Rest}`
    ? Name | ParamNames<Rest>
    : never

/** Path parameters are decoded; nothing else is parsed. */
type RoutedRequest<P extends string = string> = Request<Record<ParamNames<P>, string>>

export interface Access<Admitted> {
  /** any one is sufficient; empty for public operations */
  security: readonly string[]
  scopes?: readonly string[]
  /** @throws DomainError if the caller has no access */
  admit(request: Request, response: Response, deps: IngressDeps): Promise<Admitted> | Admitted
}

/** An operation with its handler. Handlers throw errors; the API's dialect renders them. */
export interface Route<P extends string = string> extends RouteDocument<P> {
  handle(request: RoutedRequest<P>, response: Response, deps: IngressDeps): Promise<void> | void
}

/** The path types the parameters. */
export function defineRoute<const P extends string>(route: Route<P>): Route {
  // Route<P> differs from Route only in its parameter names, which mountRoutes sets.
  return route as unknown as Route
}

export interface Operation<P extends string, Admitted> extends Omit<RouteDocument<P>, 'security' | 'scopes'> {
  access: Access<Admitted>
  /** documented error statuses; `responses` contains those with a separate text */
  errors?: readonly number[]
  answer(admitted: Admitted, request: RoutedRequest<P>, response: Response, deps: IngressDeps): Promise<void>
}

/**
 * Declares an operation: checks access, then answers.
 * @param documents error responses of this API, by status
 */
export function defineOperation<const P extends string, Admitted>(
  { access, errors = [], answer, responses, ...described }: Operation<P, Admitted>,
  documents: Readonly<Record<number, ResponseDocument>>,
): Route {
  const shared = errors.map((status) => {
    const document = documents[status]
    if (!document) throw new Error(`${described.path}: no document describes ${status}`)
    return [status, document]
  })
  return defineRoute<P>({
    // Omit does not distribute the path over the members of the document.
    ...(described as Omit<RouteDocument<P>, 'security' | 'scopes' | 'responses'>),
    security: access.security,
    ...(access.scopes && { scopes: access.scopes }),
    responses: { ...Object.fromEntries(shared), ...responses },
    async handle(request, response, deps) {
      await answer(await access.admit(request, response, deps), request, response, deps)
    },
  })
}

export interface Dialect {
  /** answers HEAD like GET, without the body */
  answersHead?: boolean
  /** sets headers of every response of a path, including refusals */
  prepare?(request: Request, response: Response, methods: readonly string[]): void
  /** answers an unsupported method, including OPTIONS */
  refuseMethod(request: Request, response: Response, methods: readonly string[]): void
  fail(error: unknown, request: Request, response: Response, deps: IngressDeps): void
}

/** Mounts operations as documented: case and slashes matter, and each path has one handler per method. */
export function mountRoutes(routes: readonly Route[], dialect: Dialect, deps: IngressDeps): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const [path, operations] of Map.groupBy(routes, (route) => route.path)) {
    const byMethod = new Map(operations.map((route) => [route.method.toUpperCase(), route]))
    if (byMethod.size !== operations.length) throw new Error(`${path} declares a method twice`)
    const get = dialect.answersHead ? byMethod.get('GET') : undefined
    if (get) byMethod.set('HEAD', get)
    const methods = [...byMethod.keys()]
    const names = paramNames(path)
    router.all(pathPattern(path, operations[0]?.params ?? {}), async (request, response) => {
      const route = byMethod.get(request.method) ?? operations.find(({ anyMethod }) => anyMethod)
      observe(request, response, path, deps)
      try {
        dialect.prepare?.(request, response, methods)
        if (request.method === 'HEAD') declareLength(response)
        if (!route) return dialect.refuseMethod(request, response, methods)
        if (route.deprecated) response.setHeader('Deprecation', `@${Date.parse(route.deprecated) / 1000}`)
        if (route.security.length > 0) forbidCaching(response, route)
        // Groups of a regular expression are numbered. The router has already decoded them.
        const params: Record<string, string> = {}
        for (const [index, name] of names.entries()) params[name] = pathText(request.params[index])
        request.params = params
        const answer = async () => await route.handle(request as RoutedRequest, response, deps)
        await (route.security.length > 0 ? withTenantUnknown(answer) : answer())
      } catch (error) {
        dialect.fail(error, request, response, deps)
      }
    })
  }
  return router
}

/** Sets the Content-Length of a HEAD response, which Node omits. */
function declareLength(response: Response): void {
  const end = response.end.bind(response)
  response.end = (...args: unknown[]) => {
    const [body] = args
    const isBody = typeof body === 'string' || body instanceof Uint8Array
    if (isBody && !response.headersSent) response.setHeader('Content-Length', Buffer.byteLength(body))
    return end()
  }
}

/** Prevents shared caches from storing authenticated responses. */
function forbidCaching(response: Response, { security }: Route): void {
  response.setHeader('Cache-Control', 'no-store')
  response.vary(security.some((name) => name.startsWith('projectKey')) ? 'X-Api-Key' : 'Authorization')
}

function paramNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
}

function pathPattern(path: string, params: Readonly<Record<string, PathParam>>): RegExp {
  const source = path.split(/(\{\w+\})/).map((piece) => {
    if (!piece.startsWith('{')) return piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const param = params[piece.slice(1, -1)]
    if (!param) throw new Error(`${path} does not describe ${piece}`)
    return `(${param.pattern})`
  })
  return new RegExp(`^${source.join('')}$`)
}

/** Headers of documents that clients, including browsers, read before they have a token. */
export const DISCOVERY_HEADERS = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=300' }
