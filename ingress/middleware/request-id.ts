import { randomUUID } from 'node:crypto'
import type { NextFunction, Request, Response } from 'express'

const ACCEPTABLE = /^[A-Za-z0-9._-]{8,64}$/

/** Gives every request an id, the caller's own where it is harmless, and says it in the answer. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && ACCEPTABLE.test(given) ? given : randomUUID()
  response.locals.requestId = id
  response.setHeader('X-Request-Id', id)
  next()
}

/** The id under which log lines and error bodies know this request. */
export function requestIdOf(response: Response): string {
  return String(response.locals.requestId ?? '')
}
