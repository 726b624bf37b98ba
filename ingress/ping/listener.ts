import { findPushTarget } from '#shared/monitoring/pings/push-store.ts'
import type { IngressDeps } from '../deps.ts'
import { openPingPath, type PingPath, type PingPathDeps } from '../ping-path/open-ping-path.ts'
import { createPingHandler, type PingHandler } from './handler.ts'
import { createPushHandler, PUSH_PREFIX } from './push.ts'

export function startPingListener(
  deps: PingPathDeps & Pick<IngressDeps, 'outbox' | 'announce'>,
): PingPath & PingHandler {
  const path = openPingPath(deps, 'http')
  const ping = createPingHandler(deps, path)
  const push = createPushHandler({ ...ping, find: (token) => findPushTarget(deps.db, token), log: deps.log })
  return {
    ...path,
    ...ping,
    handle(request, response) {
      if (request.url?.startsWith(PUSH_PREFIX)) push(request, response)
      else ping.handle(request, response)
    },
  }
}
