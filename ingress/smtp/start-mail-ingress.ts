import { parseTrustedProxies } from '#shared/platform/http/remote-addr.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import { openPlatform } from '#shared/platform/process/open-platform.ts'
import type { IngressDeps } from '../deps.ts'
import { type ListenerProcess, openListenerProcess } from '../listener-process.ts'
import { isSmtpListening } from '../ping-path/listener-proof.ts'
import { openPingPath, type PingPathDeps } from '../ping-path/open-ping-path.ts'
import { createMailListener } from './accept.ts'
import { type MailServer, openMailServer } from './server.ts'

export type MailDeps = PingPathDeps & Pick<IngressDeps, 'threads'>

/**
 * Starts the SMTP listener. `resources` closes the server first, then the ping path.
 * @param listenerProcess parts shared with the HTTP listener of the same process; opened here by default
 */
export async function startMailIngress(
  resources: AsyncDisposableStack,
  config: Config,
  log: Log,
  listenerProcess?: ListenerProcess,
): Promise<{ server: MailServer; deps: MailDeps }> {
  const { platform, announcements, threads } =
    listenerProcess ?? openListenerProcess(resources, await openPlatform(resources, 'signalbox-smtp', config, log), log)
  const { broker, metrics } = platform
  const deps: MailDeps = {
    config,
    db: platform.db,
    reserveDb: platform.reserveDb,
    broker,
    secrets: platform.secrets,
    log,
    metrics,
    installation: platform.installation,
    threads,
    clock: platform.clock,
    now: platform.now,
  }
  const pingPath = openPingPath(deps, 'smtp')
  resources.use(pingPath)
  announcements.onChange((change) => pingPath.cache.forget(change))
  announcements.onMissedMessages(() => pingPath.cache.expire())
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
  pingPath.proof.start(() => isSmtpListening(config.host, server.port))
  return { server, deps }
}

function mailTls({ smtpTlsCert: cert, smtpTlsKey: key }: Config): { cert: string; key: string } | null {
  return cert === undefined || key === undefined ? null : { cert, key }
}
