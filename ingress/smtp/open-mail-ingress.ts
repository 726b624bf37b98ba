import { parseTrustedProxies } from '#shared/platform/http/remote-addr.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import { openPlatform } from '#shared/platform/process/open-platform.ts'
import { openThreads } from '#shared/platform/process/threads.ts'
import { createAnnouncements } from '../announcements.ts'
import type { IngressDeps, IngressTasks } from '../deps.ts'
import { monitorEventLoop } from '../event-loop-monitor.ts'
import { answersMail } from '../ping-path/listener-proof.ts'
import { openPingPath, type PingPathDeps } from '../ping-path/open-ping-path.ts'
import { createMailListener } from './accept.ts'
import { type MailServer, openMailServer } from './server.ts'

export type MailDeps = PingPathDeps & Pick<IngressDeps, 'threads'>

/** `resources` closes the server first, then the ping path. */
export async function openMailIngress(
  resources: AsyncDisposableStack,
  config: Config,
  log: Log,
): Promise<{ server: MailServer; deps: MailDeps }> {
  const platform = await openPlatform(resources, 'signalbox-smtp', config, log)
  const { broker, metrics } = platform
  const announcements = createAnnouncements(broker)
  resources.use(monitorEventLoop({ log, metrics }))
  const deps: MailDeps = {
    config,
    db: platform.db,
    healthDb: platform.reserveDb,
    broker,
    secrets: platform.secrets,
    log,
    metrics,
    installation: platform.installation,
    threads: resources.use(
      openThreads<IngressTasks>(new URL('../threads/tasks.ts', import.meta.url), { log, metrics }),
    ),
    clock: platform.clock,
    now: platform.now,
  }
  const pingPath = openPingPath(deps, 'smtp')
  resources.use(pingPath)
  announcements.onChange((change) => pingPath.cache.forget(change))
  announcements.onGap(() => pingPath.cache.expire())
  const server = await openMailServer(
    {
      port: config.smtpPort,
      host: config.host,
      domain: config.pingEmailDomain,
      tls: mailTls(config),
      log,
      connectionsPerAddress: config.smtpConnectionsPerAddress,
      mailsPerAddress: config.mailRateLimitPerAddress,
      trusted: parseTrustedProxies(config.trustedProxies),
    },
    createMailListener(deps, pingPath),
  )
  resources.use(server)
  pingPath.listener.open(() => answersMail(config.host, server.port))
  return { server, deps }
}

function mailTls({ smtpTlsCert: cert, smtpTlsKey: key }: Config): { cert: string; key: string } | null {
  return cert === undefined || key === undefined ? null : { cert, key }
}
