import { createBarriers } from '#shared/platform/barrier.ts'
import type { Config } from '#shared/platform/config.ts'
import type { Log } from '#shared/platform/log.ts'
import { openPlatform } from '#shared/platform/open-platform.ts'
import { nowMicros } from '#shared/time.ts'
import { createAnnouncements } from '../announcements.ts'
import type { IngressDeps } from '../deps.ts'
import { openPingDoor } from '../ping/door.ts'
import { createMailDoor } from './accept.ts'
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
    draining: new AbortController().signal,
    now: nowMicros,
    announce: announcements.announce,
    onLive: announcements.onChange,
    ...override,
  }
  const door = openPingDoor(deps)
  resources.use(door)
  announcements.onChange((change) => door.cache.forget(change))
  const server = await openMailServer(
    { port: config.smtpPort, host: config.host, domain: config.pingEmailDomain, log },
    createMailDoor(deps, door),
  )
  resources.use(server)
  return { server, deps }
}
