import type { Request, Response } from 'express'
import { NotFoundError } from '#shared/errors.ts'
import type { Presentation } from '#shared/risk/identity/presentation.ts'
import { findByHandle } from '#shared/risk/identity/presentation-store.ts'
import { handleDigestOf } from '#shared/risk/operations/presentations.ts'
import type { IngressDeps } from '../deps.ts'
import { limitAddress } from '../middleware/access-token.ts'
import { readBody } from '../middleware/body.ts'
import { UnsupportedMediaTypeError } from '../middleware/request-safety.ts'
import type { PathParam } from '../route.ts'

/** Last part of a request's addresses. Accepts any text, so that malformed ones get the same 404 as unknown ones. */
export const handleParam: PathParam = {
  pattern: '[^/]{1,300}',
  description: 'the identifier of the request in the QR code',
  example: 'wX5QmZ0cR3iU7tq0v2k9fYc8Jm1sT6aP4nB3hD5eL2o',
}

/**
 * Returns the presentation of a wallet's request, and counts it against the limit of its address.
 * @throws NotFoundError, RateLimitedError
 */
export async function presentationOf(
  request: Request<Record<'handle', string>>,
  response: Response,
  deps: IngressDeps,
): Promise<Presentation> {
  limitAddress(request, response, deps)
  const presentation = await findByHandle(deps.db, handleDigestOf(request.params.handle))
  if (!presentation) throw new NotFoundError('there is no such request')
  return presentation
}

/** @throws UnsupportedMediaTypeError, PayloadTooLargeError */
export async function readForm(request: Request, limit: number): Promise<string> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') {
    throw new UnsupportedMediaTypeError('the body must be application/x-www-form-urlencoded')
  }
  return (await readBody(request, limit)).toString('utf8')
}

/** Sends a result or an OAuth error. `body` must not contain values from the wallet. */
export function answerWallet(response: Response, status: number, body: object): void {
  response.setHeader('Cache-Control', 'no-store')
  response.status(status).json(body)
}
