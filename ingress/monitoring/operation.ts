import type { Request, Response } from 'express'
import { type JsonObject, parseJsonBody } from '#shared/checks/json-body.ts'
import { findCheckOwner } from '#shared/checks/store.ts'
import { ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import type { ProjectKey } from '#shared/projects/store.ts'
import type { IngressDeps } from '../deps.ts'
import { authenticate } from '../middleware/authenticate.ts'
import { readBody } from '../middleware/body.ts'
import { limitRate } from '../middleware/rate-limit.ts'

export type ApiVersion = 1 | 2 | 3

/** Lets in any key of a project for a read (monitoring behaviour 5.2). @throws UnauthorizedError, RateLimitedError */
export async function admitReader(request: Request, response: Response, deps: IngressDeps): Promise<ProjectKey> {
  const key = await authenticate(request, deps, 'any')
  await limitRate(key, response, deps)
  return key
}

/** Lets in the read-write key for an operation without a body. @throws UnauthorizedError, RateLimitedError */
export async function admitWriter(request: Request, response: Response, deps: IngressDeps): Promise<ProjectKey> {
  const key = await authenticate(request, deps, 'rw')
  await limitRate(key, response, deps)
  return key
}

/**
 * Reads the JSON body and then lets in the read-write key, which may be in the body: that the body cannot be parsed is
 * said before the key is looked at.
 * @throws ValidationError, UnauthorizedError, RateLimitedError, PayloadTooLargeError
 */
export async function admitWriterWithBody(
  request: Request,
  response: Response,
  deps: IngressDeps,
): Promise<{ key: ProjectKey; body: JsonObject }> {
  const parsed = parseJsonBody(await readBody(request))
  if (!parsed.ok) throw new ValidationError(parsed.error)
  const key = await authenticate(request, deps, 'rw', parsed.body.api_key)
  await limitRate(key, response, deps)
  return { key, body: parsed.body }
}

/**
 * The internal id of a check that a path names by uuid (monitoring behaviour 5.3).
 * @throws NotFoundError when there is none anywhere, ForbiddenError when it is another project's
 */
export async function ownCheckId(uuid: string, key: ProjectKey, deps: IngressDeps): Promise<number> {
  const owner = await findCheckOwner(deps.db, uuid)
  if (!owner) throw new NotFoundError('')
  if (owner.projectId !== key.project.id) throw new ForbiddenError('')
  return owner.id
}

/** Waits until the reads that follow show every ping accepted before; says so when they may not. */
export async function readAfterPings(
  checkIds: readonly number[] | 'all',
  response: Response,
  deps: IngressDeps,
): Promise<void> {
  setLag(response, await deps.barrier.pass(checkIds))
}

/** Tells the reader that pings of the last moments may be missing. @param lagMs 0 when none can be */
export function setLag(response: Response, lagMs: number): void {
  if (lagMs > 0) response.setHeader('X-Signalbox-Lag', lagMs)
}

/** The query without Express's guesses about brackets: every value is text. */
export function queryOf(request: Request): URLSearchParams {
  const at = request.url.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : request.url.slice(at + 1))
}

export function sendJson(response: Response, body: unknown, status = 200): void {
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify(body))
}
