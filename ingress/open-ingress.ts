import { createBarriers } from '#shared/platform/broker/barrier.ts'
import { parseTrustedProxies } from '#shared/platform/http/remote-addr.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import { openPlatform } from '#shared/platform/process/open-platform.ts'
import { openThreads } from '#shared/platform/process/threads.ts'
import { createAnnouncements } from './announcements.ts'
import { createApp } from './app.ts'
import { createConnectionCap } from './connections.ts'
import type { IngressDeps, IngressTasks } from './deps.ts'
import { openListenerProblems } from './health.ts'
import { createLiveChanges } from './live-changes.ts'
import { openPingListener } from './ping/listener.ts'
import { type HttpServer, openHttpServer } from './server.ts'
import { watchTurns } from './turn-watch.ts'

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
  const threads = resources.use(
    openThreads<IngressTasks>(new URL('./threads/tasks.ts', import.meta.url), { log, metrics }),
  )
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
    readiness: platform.readiness,
    pingReadiness: platform.pingReadiness,
    installation: platform.installation,
    threads,
    turns: resources.use(watchTurns({ log, metrics })),
    draining: draining.signal,
    clock: platform.clock,
    now: platform.now,
    announce: announcements.announce,
    onLive(listener) {
      announcements.onChange(listener)
      liveChanges.onChange(listener)
    },
    ...override,
  }
  const listener = openListenerProblems(deps)
  resources.use(listener)
  let isListening = false
  for (const readiness of [deps.readiness, deps.pingReadiness]) {
    readiness.add(listener.problems)
    readiness.add(() => (isListening ? [] : ['http: does not listen yet']))
  }
  await platform.installation.asked()
  const pingListener = openPingListener(deps, 'http')
  resources.use(pingListener)
  announcements.onChange((change) => pingListener.cache.forget(change))
  announcements.onGap(() => pingListener.cache.expire())
  const trusted = parseTrustedProxies(config.trustedProxies)
  const connections = createConnectionCap(config.httpConnectionsPerAddress, trusted)
  const server = await openHttpServer(
    { port: config.port, host: config.host, connections },
    { ping: pingListener.handle, app: createApp(deps) },
    draining.signal,
  )
  resources.use(server)
  isListening = true
  return { server, deps, drain: () => draining.abort() }
}
