import { createBarriers } from '#shared/platform/broker/barrier.ts'
import { parseTrustedProxies } from '#shared/platform/http/remote-addr.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import { openPlatform } from '#shared/platform/process/open-platform.ts'
import { openThreads } from '#shared/platform/process/threads.ts'
import { createAnnouncements } from '../announcements.ts'
import type { IngressDeps, IngressTasks } from '../deps.ts'
import { openPingListener } from '../ping/listener.ts'
import { watchTurns } from '../turn-watch.ts'
import { createMailListener } from './accept.ts'
import { type MailServer, openMailServer } from './server.ts'

/** Opens the listener of e-mail pings. Closed through `resources`: the server first, what it accepted after it. */
export async function openMailIngress(
  resources: AsyncDisposableStack,
  config: Config,
  log: Log,
  override: Partial<IngressDeps> = {},
): Promise<{ server: MailServer; deps: IngressDeps }> {
  const platform = await openPlatform(resources, 'signalbox-smtp', config, log)
  const { broker, metrics } = platform
  const threads = resources.use(
    openThreads<IngressTasks>(new URL('../threads/tasks.ts', import.meta.url), { log, metrics }),
  )
  const announcements = createAnnouncements(broker)
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
    draining: new AbortController().signal,
    clock: platform.clock,
    now: platform.now,
    announce: announcements.announce,
    onLive: announcements.onChange,
    ...override,
  }
  await platform.installation.asked()
  const pingListener = openPingListener(deps, 'smtp')
  resources.use(pingListener)
  announcements.onChange((change) => pingListener.cache.forget(change))
  announcements.onGap(() => pingListener.cache.expire())
  const server = await openMailServer(
    {
      port: config.smtpPort,
      host: config.host,
      domain: config.pingEmailDomain,
      log,
      connectionsPerAddress: config.smtpConnectionsPerAddress,
      mailsPerAddress: config.mailRateLimitPerAddress,
      trusted: parseTrustedProxies(config.trustedProxies),
    },
    createMailListener(deps, pingListener),
  )
  resources.use(server)
  return { server, deps }
}
