import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Tracer } from '#shared/platform/process/tracing.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/**
 * A handler whose requests begin a trace, or go on with that of their caller (`traceparent`). The path stays out: it holds
 * what lets pings in. @param name of what it serves
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

/** What the router has matched, with names in place of values. */
function routeOf(request: object): { 'http.route'?: string } {
  const route = 'route' in request ? request.route : null
  const path = typeof route === 'object' && route !== null && 'path' in route ? route.path : null
  return typeof path === 'string' ? { 'http.route': path } : {}
}
