import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import { openPlatform, openRole } from '#shared/platform/process/open-platform.ts'
import { openListenerProcess } from '../ingress/listener-process.ts'
import { openIngress } from '../ingress/open-ingress.ts'
import { openMailIngress } from '../ingress/smtp/open-mail-ingress.ts'
import { openWorkers } from '../workers/open-workers.ts'
import { workers } from '../workers/registry.ts'

/**
 * Opens both listeners and all workers in one process, for an installation on one machine. Broker, clock and metrics
 * are shared; listeners and workers have separate database pools. Closed through `resources`: first both listeners,
 * while the workers still answer their last requests, then the workers.
 */
export async function openAll(
  resources: AsyncDisposableStack,
  config: Config,
  log: Log,
): Promise<{ http: number; smtp: number; drain: () => void }> {
  const platform = await openPlatform(resources, 'signalbox', config, log)
  const own = { name: 'signalbox-workers', label: 'workers-', config, log }
  await openWorkers(resources, workers, config, log, {}, openRole(resources, platform, own))
  const process = openListenerProcess(resources, openRole(resources, platform), log)
  const listeners = { http: new AsyncDisposableStack(), smtp: new AsyncDisposableStack() }
  resources.defer(async () => {
    await Promise.all([listeners.http.disposeAsync(), listeners.smtp.disposeAsync()])
  })
  const ingress = await openIngress(listeners.http, config, log, {}, process)
  const mail = await openMailIngress(listeners.smtp, config, log, process)
  return { http: ingress.server.port, smtp: mail.server.port, drain: ingress.drain }
}
