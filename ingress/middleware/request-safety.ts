import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NextFunction, Request, Response } from 'express'
import { DomainError } from '#shared/errors.ts'
import { resolveClient, type TrustedProxies } from '#shared/platform/http/remote-addr.ts'
import type { Tracer } from '#shared/platform/process/tracing.ts'

/** Node would silently drop header lines beyond its own limit. */
const MAX_HEADERS = 100

/**
 * Refuses requests that Node's parser accepts: repeated Host headers, transfer codings other than `chunked`, targets in
 * absolute form (400), too many headers (431), and versions other than 1.0 and 1.1 (505).
 * @returns the status, after which the connection must close; null if the request is safe
 */
export function unsafeRequestStatus(request: IncomingMessage): 400 | 431 | 505 | null {
  const { rawHeaders, url, headers } = request
  if (rawHeaders.length > MAX_HEADERS * 2) return 431
  if (request.httpVersionMajor !== 1 || request.httpVersionMinor > 1) return 505
  if (isRepeated(request, 'host')) return 400
  const coding = headers['transfer-encoding']
  // Two proxies may disagree on the end of a body with another or a repeated coding.
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 400
  return url?.startsWith('/') || (url === '*' && request.method === 'OPTIONS') ? null : 400
}

/** @param name in lower case */
export function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i]
    if (given?.length === name.length && given.toLowerCase() === name) count += 1
  }
  return count > 1
}

export class PayloadTooLargeError extends DomainError {
  readonly code = 'PAYLOAD_TOO_LARGE'
}

/** The type or the compression of the body is not supported. */
export class UnsupportedMediaTypeError extends DomainError {
  readonly code = 'UNSUPPORTED_MEDIA_TYPE'
}

export class RequestTimeoutError extends DomainError {
  readonly code = 'REQUEST_TIMEOUT'
}

export class MethodNotAllowedError extends DomainError {
  readonly code = 'METHOD_NOT_ALLOWED'
}

/** The connection closed before the body was complete, so no client waits for an answer. */
export class AbortedRequestError extends DomainError {
  readonly code = 'VALIDATION_ERROR'
}

const ACCEPTABLE = /^[A-Za-z0-9._-]{8,64}$/

/** Assigns an id to every request, the caller's if it is harmless, and returns it in the response. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && ACCEPTABLE.test(given) ? given : randomUUID()
  response.locals.requestId = id
  response.setHeader('X-Request-Id', id)
  next()
}

export function requestIdOf(response: Response): string {
  return String(response.locals.requestId ?? '')
}

/**
 * Returns the caller's address; `unknown` if the socket has none. Forwarding headers count only from trusted proxies.
 */
export function clientAddress(request: Request, deps: { trustedProxies: TrustedProxies }): string {
  const origin = {
    peer: request.socket.remoteAddress,
    forwardedFor: textOf(request.headers['x-forwarded-for']),
    forwarded: textOf(request.headers.forwarded),
    forwardedProto: undefined,
  }
  return resolveClient(origin, deps.trustedProxies).remoteAddr ?? 'unknown'
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Starts a trace per request, or continues the caller's (`traceparent`). The path is omitted, because it contains ping
 * keys.
 * @param name of the traced entry point
 */
export function tracedHandler(name: string, handle: Handle, tracer: Tracer): Handle {
  return (request, response) => {
    const span = tracer.root(`${request.method} ${name}`, request.headers.traceparent)
    if (span === null) {
      handle(request, response)
      return
    }
    response.once('close', () => {
      const { statusCode } = response
      span.end({ 'http.response.status_code': statusCode, ...routeOf(request) }, statusCode >= 500)
    })
    span.run(() => handle(request, response))
  }
}

/** Returns the path pattern, because a path contains secrets. */
function routeOf(request: object): { 'http.route'?: string } {
  const route = 'route' in request ? request.route : null
  const path = typeof route === 'object' && route !== null && 'path' in route ? route.path : null
  return typeof path === 'string' ? { 'http.route': path } : {}
}
