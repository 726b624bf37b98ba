import type { IngressDeps } from '../deps.ts'
import { openPingPath, type PingPath, type PingPathDeps } from '../ping-path/open-ping-path.ts'
import { createPingHandler, type PingHandler } from './handler.ts'

export function startPingListener(
  deps: PingPathDeps & Pick<IngressDeps, 'outbox' | 'announce'>,
): PingPath & PingHandler {
  const path = openPingPath(deps, 'http')
  return { ...path, ...createPingHandler(deps, path) }
}
