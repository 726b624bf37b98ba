import { LRUCache } from 'lru-cache'
import type { CacheChange, LiveChange } from '#shared/contracts/ingress-messages.ts'
import { createBarriers } from '#shared/platform/broker/barrier.ts'
import { createConnectionCap } from '#shared/platform/http/connection-cap.ts'
import { parseTrustedProxies } from '#shared/platform/http/remote-addr.ts'
import { openSystemResolver } from '#shared/platform/http/resolve.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import { openPlatform, type Platform } from '#shared/platform/process/open-platform.ts'
import { createLiveChanges } from './announcements.ts'
import { createBadgeService } from './api-monitoring/badge-service.ts'
import { createSharedReads } from './api-monitoring/share-reads.ts'
import { createApp } from './app.ts'
import type { IngressDeps } from './deps.ts'
import { openListenerProblems } from './health.ts'
import { type ListenerProcess, openListenerProcess } from './listener-process.ts'
import { createAgentDirectory } from './mcp/agent-directory.ts'
import { tracedHandler } from './middleware/request-safety.ts'
import { createShortCache } from './middleware/short-cache.ts'
import { TokenTaker } from './middleware/token-taker.ts'
import { startPingListener } from './ping/listener.ts'
import { isHttpListening } from './ping-path/listener-proof.ts'
import { createReplies } from './replies.ts'
import { createRiskServices } from './risk-services.ts'
import { type HttpServer, openHttpServer } from './server.ts'
import { createSlots } from './slots.ts'
import { Watchers } from './web/shell/live-watchers.ts'

/** A revoked key stops working within this time; the guaranteed maximum is five seconds. */
const KEY_REMEMBERED_MS = 3_000

/**
 * Starts the HTTP ingress. `resources` closes the server first, then the ping path. `drain` prepares a shutdown: the
 * process still serves, but is not ready, and its responses close their connections.
 * @param listenerProcess parts shared with the SMTP listener of the same process; opened here by default
 */
export async function startIngress(
  resources: AsyncDisposableStack,
  config: Config,
  log: Log,
  override: Partial<IngressDeps> = {},
  listenerProcess?: ListenerProcess,
): Promise<{ server: HttpServer; deps: IngressDeps; drain: () => void }> {
  const draining = new AbortController()
  const { platform, ...shared } =
    listenerProcess ??
    openListenerProcess(resources, await openPlatform(resources, 'signalbox-ingress', config, log), log)
  const { announcements } = shared
  const deps = createDeps({ platform, shared, config, log, draining: draining.signal, override })
  const listener = openListenerProblems(deps)
  resources.use(listener)
  let isListening = false
  for (const readiness of [deps.readiness, deps.pingReadiness]) {
    readiness.add(listener.problems)
    readiness.add(() => (isListening ? [] : ['http: does not listen yet']))
  }
  const pingListener = startPingListener(deps)
  resources.use(pingListener)
  announcements.onChange((change) => pingListener.cache.forget(change))
  announcements.onMissedMessages(() => pingListener.cache.expire())
  const connections = createConnectionCap(config.httpConnectionsPerAddress, deps.trustedProxies)
  const server = await openHttpServer(
    { port: config.port, host: config.host, connections, basePath: config.basePath },
    {
      ping: tracedHandler('ping', pingListener.handle, platform.tracer),
      app: tracedHandler('app', createApp(deps), platform.tracer),
      // Traces need the request of Node's server.
      plain: platform.tracer.isOn ? undefined : pingListener.handleFast,
    },
    draining.signal,
  )
  resources.use(server)
  isListening = true
  pingListener.proof.start(() => isHttpListening(config.host, server.port))
  return { server, deps, drain: () => draining.abort() }
}

/** Maximum number of cached status pages; each takes up to 5 MB. */
const MAX_HISTORIES = 40

/**
 * Maximum concurrent attempts per address. Each holds a token, so it must be below the smallest bucket: valid
 * concurrent requests must not exhaust it.
 */
const MAX_TOKEN_ATTEMPTS = 4

/** Creates the dependencies of the listeners. Overridden ones also replace the originals in the others. */
function createDeps(parts: {
  platform: Platform
  shared: Omit<ListenerProcess, 'platform'>
  config: Config
  log: Log
  draining: AbortSignal
  override: Partial<IngressDeps>
}): IngressDeps {
  const { platform, shared, config, log, draining, override } = parts
  const { announcements, threads, eventLoop } = shared
  const { broker, metrics } = platform
  const liveChanges = createLiveChanges(broker)
  const ground = {
    config,
    db: platform.db,
    reserveDb: platform.reserveDb,
    broker,
    outbox: platform.outbox,
    barrier: createBarriers(broker, { generations: platform.installation.generations, metrics }),
    secrets: platform.secrets,
    log,
    metrics,
    readiness: platform.readiness,
    pingReadiness: platform.pingReadiness,
    pingRefusals: platform.pingRefusals,
    installation: platform.installation,
    threads,
    eventLoop,
    draining,
    agents: createAgentDirectory(config.agentRateLimitPerMinute),
    clock: platform.clock,
    now: platform.now,
    announce: announcements.announce,
    onLive(listener: (change: LiveChange | CacheChange) => void) {
      announcements.onChange(listener)
      liveChanges.onChange(listener)
    },
    ...override,
  }
  return {
    ...ground,
    trustedProxies: parseTrustedProxies(config.trustedProxies),
    projectKeys: new LRUCache({ max: 10_000, ttl: KEY_REMEMBERED_MS, perf: performance }),
    tokens: new TokenTaker(ground.db),
    checkLists: createSharedReads(),
    uuidsOfUniqueKeys: new LRUCache({ maxSize: 50_000, sizeCalculation: () => 1 }),
    badges: createBadgeService(ground.secrets),
    publicHistories: createShortCache(MAX_HISTORIES),
    watchers: new Watchers(ground),
    oidcIssuers: new Map(),
    tokenSlots: createSlots(MAX_TOKEN_ATTEMPTS),
    importSlots: createSlots(1),
    replies: createReplies(ground.broker),
    risk: createRiskServices(ground),
    logKeys: new Map(),
    resolve: openSystemResolver(),
    ...override,
  }
}
