import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import { openPlatform, openRole } from '#shared/platform/process/open-platform.ts'
import { openListenerProcess } from '../ingress/listener-process.ts'
import { startMailIngress } from '../ingress/smtp/start-mail-ingress.ts'
import { startIngress } from '../ingress/start-ingress.ts'
import { workers } from '../workers/registry.ts'
import { startWorkers } from '../workers/start-workers.ts'

/**
 * Starts both listeners and all workers in one process, for an installation on one machine. Broker, clock and metrics
 * are shared; listeners and workers have separate database pools. Closed through `resources`: first both listeners,
 * while the workers still answer their last requests, then the workers.
 */
export async function startAll(
  resources: AsyncDisposableStack,
  config: Config,
  log: Log,
): Promise<{ http: number; smtp: number; drain: () => void }> {
  const platform = await openPlatform(resources, 'signalbox', config, log)
  const workerPools = { name: 'signalbox-workers', label: 'workers-', config, log }
  await startWorkers(resources, workers, config, log, {}, openRole(resources, platform, workerPools))
  const listenerProcess = openListenerProcess(resources, openRole(resources, platform), log)
  const listeners = { http: new AsyncDisposableStack(), smtp: new AsyncDisposableStack() }
  resources.defer(async () => {
    await Promise.all([listeners.http.disposeAsync(), listeners.smtp.disposeAsync()])
  })
  const ingress = await startIngress(listeners.http, config, log, {}, listenerProcess)
  const mail = await startMailIngress(listeners.smtp, config, log, listenerProcess)
  return { http: ingress.server.port, smtp: mail.server.port, drain: ingress.drain }
}
