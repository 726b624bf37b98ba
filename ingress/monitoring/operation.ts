import type { Request, Response } from 'express'
import { ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { type JsonBody, type JsonObject, parseInSteps } from '#shared/monitoring/checks/json-body.ts'
import { findCheckOwner } from '#shared/monitoring/checks/store.ts'
import type { OwnCheck } from '#shared/monitoring/operations/check-changes.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { createTurns } from '#shared/platform/process/turns.ts'
import { insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '#shared/tenancy/actor.ts'
import type { IngressDeps } from '../deps.ts'
import { authenticate } from '../middleware/authenticate.ts'
import { readBody } from '../middleware/body.ts'
import { clientAddress } from '../middleware/client-address.ts'
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
  auditChange(request, response, key, deps)
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
  const parsed = await readInTurns(await readBody(request))
  if (!parsed.ok) throw new ValidationError(parsed.error)
  const key = await authenticate(request, deps, 'rw', parsed.body.api_key)
  await limitRate(key, response, deps)
  auditChange(request, response, key, deps)
  return { key, body: parsed.body }
}

/** Notes a change by a key once it is answered; a refused request and a read change nothing. */
function auditChange(request: Request, response: Response, key: ProjectKey, deps: IngressDeps): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  response.once('finish', () => {
    if (response.statusCode >= 300) return
    acrossTenants(() =>
      insertAudit(deps.db, {
        ...auditedActor(keyActor(request, key, deps)),
        organisationId: key.project.organisationId,
        action: 'api.changed',
        target: `${request.method} ${request.path}`,
      }),
    ).catch((error: unknown) => deps.log.warn(describeError(error), 'audit.not-written'))
  })
}

/** The holder of a key, as operations and the audit log know them. */
export function keyActor(request: Request, { keyId, project }: ProjectKey, deps: IngressDeps): Actor {
  return { kind: 'key', id: keyId, owner: project.name, address: clientAddress(request, deps) }
}

/** A long body is read in turns, since others wait meanwhile. */
async function readInTurns(raw: Buffer): Promise<JsonBody> {
  const turns = createTurns()
  const parsing = parseInSteps(raw)
  for (;;) {
    const step = parsing.next()
    if (step.done) return step.value
    await turns.rest()
  }
}

/**
 * The internal id of a check that a path names by uuid (monitoring behaviour 5.3).
 * @throws NotFoundError when there is none anywhere, ForbiddenError when it is another project's
 */
export async function ownCheckId(uuid: string, key: ProjectKey, deps: IngressDeps): Promise<number> {
  const owner = await acrossTenants(() => findCheckOwner(deps.db, uuid)) // a foreign one is told from none
  if (!owner) throw new NotFoundError('')
  if (owner.projectId !== key.project.id) throw new ForbiddenError('')
  return owner.id
}

/** A check that a path names by uuid, as operations take it. @throws as ownCheckId does */
export async function ownCheck(uuid: string, key: ProjectKey, deps: IngressDeps): Promise<OwnCheck> {
  return { project: key.project, id: await ownCheckId(uuid, key, deps), uuid }
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

export function sendJson(response: Response, body: unknown, status = 200): void {
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify(body))
}
