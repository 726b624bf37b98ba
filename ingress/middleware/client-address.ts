import type { Request } from 'express'
import { resolveClient } from '#shared/platform/http/remote-addr.ts'
import type { IngressDeps } from '../deps.ts'

/** The caller's address; forwarding headers count only from trusted proxies. `unknown` when it cannot be told. */
export function clientAddress(request: Request, deps: Pick<IngressDeps, 'trustedProxies'>): string {
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
