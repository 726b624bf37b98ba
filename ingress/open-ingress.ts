import { createBarriers } from '#shared/platform/barrier.ts'
import type { Config } from '#shared/platform/config.ts'
import type { Log } from '#shared/platform/log.ts'
import { openPlatform } from '#shared/platform/open-platform.ts'
import { nowMicros } from '#shared/time.ts'
import { createAnnouncements } from './announcements.ts'
import { createApp } from './app.ts'
import type { IngressDeps } from './deps.ts'
import { createLiveChanges } from './live-changes.ts'
import { openPingDoor } from './ping/door.ts'
import { type HttpServer, openHttpServer } from './server.ts'

/**
 * Opens one HTTP ingress. Everything is closed through `resources`: the server first, what it accepted after it.
 * `drain` comes before that: it keeps serving, turns readiness red and lets go of kept-alive connections.
 */
export async function openIngress(
  resources: AsyncDisposableStack,
  config: Config,
  log: Log,
  override: Partial<IngressDeps> = {},
): Promise<{ server: HttpServer; deps: IngressDeps; drain: () => void }> {
  const draining = new AbortController()
  const platform = await openPlatform(resources, 'signalbox-ingress', config, log)
  const { broker, metrics } = platform
  const announcements = createAnnouncements(broker)
  const liveChanges = createLiveChanges(broker)
  const deps: IngressDeps = {
    config,
    db: platform.db,
    healthDb: platform.reserveDb,
    broker,
    outbox: platform.outbox,
    barrier: createBarriers(broker, { shards: config.pingShards, metrics }),
    secrets: platform.secrets,
    log,
    metrics,
    draining: draining.signal,
    now: nowMicros,
    announce: announcements.announce,
    onLive(listener) {
      announcements.onChange(listener)
      liveChanges.onChange(listener)
    },
    ...override,
  }
  const door = openPingDoor(deps)
  resources.use(door)
  announcements.onChange((change) => door.cache.forget(change))
  const server = await openHttpServer(
    { port: config.port, host: config.host },
    { ping: door.handle, app: createApp(deps) },
    draining.signal,
  )
  resources.use(server)
  return { server, deps, drain: () => draining.abort() }
}
