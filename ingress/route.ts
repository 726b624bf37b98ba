import { type Request, type Response, Router } from 'express'
import type { z } from 'zod'
import type { FieldCode } from '#shared/field-codes.ts'
import { withTenantUnknown } from '#shared/platform/database/tenant.ts'
import type { IngressDeps } from './deps.ts'
import { pathText } from './middleware/form-text.ts'
import { observe } from './observe.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A variable part of a path. A value that does not match `pattern` is another path, and therefore a 404. */
export interface PathParam {
  /** source of a regular expression without groups and anchors, matched against the path as sent */
  pattern: string
  description: string
  example: string
  /** schema in the document, instead of the pattern */
  schema?: Readonly<Record<string, string>>
  /** the fault of a value that matches the pattern, or null; the message follows the name */
  fault?(text: string): { code: FieldCode; message: string } | null
}

/** Schemas by media type; null for content that JSON Schema does not describe (text, images, bytes). */
export type Content = Readonly<Record<string, z.ZodType | null>>

export interface ResponseDocument {
  description: string
  content?: Content
  /** descriptions by header name */
  headers?: Readonly<Record<string, string>>
}

/** The published description of an operation (openapi.ts), by which it is also mounted. */
interface RouteDocument<P extends string> {
  method: Method
  /** in OpenAPI's form, `/api/v3/checks/{uuid}`; a trailing slash is part of it */
  path: P
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  deprecated?: boolean
  /** answers every method, and is documented under this one */
  anyMethod?: boolean
  /** operation that documents this one: OpenAPI cannot have two paths that differ only in the form of a parameter */
  documentedBy?: string
  /** security schemes, any one of which suffices; empty for the public */
  security: readonly string[]
  /** scopes that a token must carry */
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

/** A request whose path parameters are matched and decoded; nothing else is parsed. */
type RoutedRequest<P extends string = string> = Request<Record<ParamNames<P>, string>>

export interface Access<Admitted> {
  /** security schemes, any one of which suffices; empty for the public */
  security: readonly string[]
  /** scopes that a token must carry */
  scopes?: readonly string[]
  /** authenticates the caller, or throws a DomainError */
  admit(request: Request, response: Response, deps: IngressDeps): Promise<Admitted> | Admitted
}

/** An operation with its document and its handler. Errors are thrown; the dialect of the API renders them. */
export interface Route<P extends string = string> extends RouteDocument<P> {
  handle(request: RoutedRequest<P>, response: Response, deps: IngressDeps): Promise<void> | void
}

/** Declares one operation. The path types the parameters. */
export function defineRoute<const P extends string>(route: Route<P>): Route {
  // Route<P> differs from Route only in the names of its parameters, and mountRoutes sets exactly those.
  return route as unknown as Route
}

/** An operation of an API whose operations share their error documents. */
export interface Operation<P extends string, Admitted> extends Omit<RouteDocument<P>, 'security' | 'scopes'> {
  access: Access<Admitted>
  /** statuses of `errors` that are documented; `responses` has those with a separate text */
  errors?: readonly number[]
  answer(admitted: Admitted, request: RoutedRequest<P>, response: Response, deps: IngressDeps): Promise<void>
}

/**
 * Declares an operation: admits the caller, then answers.
 * @param documents how the errors of this API are documented, by status
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

/** Behaviour that all operations of an API share. */
export interface Dialect {
  /** answers HEAD with the status and the headers of GET */
  answersHead?: boolean
  /** sets headers of every answer of a path, refusals included */
  prepare?(request: Request, response: Response, methods: readonly string[]): void
  /** answers a method that the path does not have (OPTIONS included) */
  refuseMethod(request: Request, response: Response, methods: readonly string[]): void
  /** sends an error (errors.ts) */
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

/** Sets the length of the body that GET would send: Node sets none for HEAD. */
function declareLength(response: Response): void {
  const end = response.end.bind(response)
  response.end = (...args: unknown[]) => {
    const [body] = args
    const isBody = typeof body === 'string' || body instanceof Uint8Array
    if (isBody && !response.headersSent) response.setHeader('Content-Length', Buffer.byteLength(body))
    return end()
  }
}

/** Forbids shared caches to store the answer to an authenticated caller. */
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

/** Headers of every document that clients read before they have a token, also clients in browsers. */
export const DISCOVERY_HEADERS = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=300' }
