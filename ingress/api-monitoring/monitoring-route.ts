import type { Request, Response } from 'express'
import { ValidationError } from '#shared/errors.ts'
import type { JsonObject, ParseLimits } from '#shared/monitoring/checks/json-body.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import type { Actor } from '#shared/tenancy/actor.ts'
import type { IngressDeps } from '../deps.ts'
import { authenticate } from '../middleware/authenticate.ts'
import { openBody } from '../middleware/body.ts'
import { parseInSlices } from '../middleware/form-text.ts'
import { limitRate } from '../middleware/rate-limit.ts'
import { clientAddress } from '../middleware/request-safety.ts'
import { type Access, defineOperation, type Operation, type ParamNames, type Route } from '../route.ts'
import { errorDocuments } from './schemas.ts'

/** Any key of a project (docs/spec/monitoring.md#authentication): 401, then 429. */
export const anyKey: Access<{ key: ProjectKey }> = {
  security: ['projectKey', 'projectKeyReadOnly'],
  admit: (request, response, deps) => admit(request, response, deps, 'any'),
}

export const readWriteKey: Access<{ key: ProjectKey }> = {
  security: ['projectKey'],
  admit: (request, response, deps) => admit(request, response, deps, 'rw'),
}

/** The description of an operation; `errors` are its statuses besides KEY_ERRORS. */
type Described<P extends string> = Omit<Operation<P, unknown>, 'method' | 'access' | 'answer'>

/** Errors of every operation that takes a key. */
const KEY_ERRORS = [401, 429, 503]

export interface Context<P extends string> {
  key: ProjectKey
  /** holder of the key, for operations and the audit log */
  actor: Actor
  params: Record<ParamNames<P>, string>
  deps: IngressDeps
  /** for parts that the route does not parse */
  request: Request
  /** sets X-Signalbox-Lag if the most recent pings may be missing; 0 if none is missing */
  setLag(lagMs: number): void
}

/** JSON of a 200, or a function that sends the answer, for example in pieces. */
export type Reply = object | ((response: Response) => Promise<void>)

/** Declares an operation of the monitoring API without effect: a GET for holders of a key. */
export function read<const P extends string>(
  spec: Described<P> & { access: Access<{ key: ProjectKey }>; handle(context: Context<P>): Promise<Reply> },
): Route {
  const { access, errors = [], handle, ...described } = spec
  return defineOperation(
    {
      ...described,
      method: 'get',
      access,
      errors: [...KEY_ERRORS, ...errors],
      async answer({ key }, request, response, deps) {
        await send(response, await handle(contextOf(request, response, deps, key)))
      },
    },
    errorDocuments,
  )
}

/**
 * Declares an operation of the monitoring API with an effect, for the holder of the read-write key. A POST may have the
 * key in its body. A key in the header is verified before the body is read. The operation that `handle` calls owns the
 * transaction and writes the audit log in it.
 */
export function write<const P extends string>(
  spec: Described<P> & {
    method?: 'post' | 'delete'
    /** maximum number of values in the body; 20,000 by default */
    maxValues?: number
    handle(context: Context<P> & { body: JsonObject }): Promise<Reply>
  },
): Route {
  const { method = 'post', maxValues = MAX_VALUES, errors = [], handle, ...described } = spec
  const access: Access<{ key: ProjectKey; body: JsonObject }> = {
    security: readWriteKey.security,
    async admit(request, response, deps) {
      if (method === 'post') return await admitWithBody(request, response, deps, maxValues)
      return { ...(await admit(request, response, deps, 'rw')), body: {} }
    },
  }
  return defineOperation(
    {
      ...described,
      method,
      access,
      errors: [...KEY_ERRORS, ...errors],
      async answer({ key, body }, request, response, deps) {
        await send(response, await handle({ ...contextOf(request, response, deps, key), body }))
      },
    },
    errorDocuments,
  )
}

export function withStatus(status: number, body: object): Reply {
  return async (response) => sendJson(response, body, status)
}

/** @throws UnauthorizedError, RateLimitedError */
async function admit(
  request: Request,
  response: Response,
  deps: IngressDeps,
  kind: 'any' | 'rw',
  keyOfBody?: unknown,
): Promise<{ key: ProjectKey }> {
  const key = await authenticate(request, deps, kind, keyOfBody)
  await limitRate(key, response, deps)
  return { key }
}

function contextOf<P extends string>(
  request: Request<Record<ParamNames<P>, string>>,
  response: Response,
  deps: IngressDeps,
  key: ProjectKey,
): Context<P> {
  const actor = keyActor(request, key, deps)
  return { key, actor, params: request.params, deps, request, setLag: (lagMs) => setLag(response, lagMs) }
}

async function send(response: Response, reply: Reply): Promise<void> {
  if (typeof reply === 'function') await reply(response)
  else sendJson(response, reply, 200)
}

/** Maximum number of values in a JSON body: no request except an import needs a tenth of them. */
const MAX_VALUES = 20_000
/** A key that is not in the header must be in this many first bytes of the body. */
const KEY_BYTES = 65_536

/**
 * Verifies the key and applies its rate limit, then reads the whole body. A header with a key has precedence, even if
 * it is empty. Without the header the key is searched in the first 64 kB of the body.
 * @throws ValidationError for a body that cannot be parsed; for a short body this error precedes that of a missing key
 * @throws UnauthorizedError, RateLimitedError, PayloadTooLargeError
 */
async function admitWithBody(
  request: Request,
  response: Response,
  deps: IngressDeps,
  maxValues: number,
): Promise<{ key: ProjectKey; body: JsonObject }> {
  const incoming = openBody(request)
  if (request.headers['x-api-key'] !== undefined) {
    const { key } = await admit(request, response, deps, 'rw')
    return { key, body: await parse(request, await incoming.all(), { maxValues }) }
  }
  const first = await incoming.upTo(KEY_BYTES)
  const { isWhole } = incoming
  const beginning = isWhole
    ? await parse(request, first, { maxValues })
    : await parse(request, first.subarray(0, KEY_BYTES), { maxValues, isBeginning: true })
  const { key } = await admit(request, response, deps, 'rw', beginning.api_key)
  if (isWhole) return { key, body: beginning }
  const body = await parse(request, await incoming.all(), { maxValues })
  if (body.api_key !== beginning.api_key)
    throw new ValidationError('json validation error: api_key must not be given twice')
  return { key, body }
}

/** Returns the holder of a key for operations and the audit log. */
function keyActor(request: Request, { keyId, label, project }: ProjectKey, deps: IngressDeps): Actor {
  return { kind: 'key', id: keyId, label, owner: project.name, address: clientAddress(request, deps) }
}

/** @throws ValidationError, UnavailableError */
async function parse(request: Request, raw: Buffer, limits: ParseLimits): Promise<JsonObject> {
  const parsed = await parseInSlices(request, raw, limits)
  if (!parsed.ok) throw new ValidationError(parsed.error)
  return parsed.body
}

/** Sets X-Signalbox-Lag if the most recent pings may be missing. @param lagMs 0 if none is missing */
export function setLag(response: Response, lagMs: number): void {
  if (lagMs > 0) response.setHeader('X-Signalbox-Lag', lagMs)
}

function sendJson(response: Response, body: object, status: number): void {
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify(body))
}
