import type { Config } from '#shared/platform/config.ts'
import { createLiveAnnouncer } from '#shared/platform/live-announcer.ts'
import type { Log } from '#shared/platform/log.ts'
import { openPlatform } from '#shared/platform/open-platform.ts'
import { nowMicros } from '#shared/time.ts'
import type { Worker, WorkerDeps } from './define-worker.ts'

/** Starts workers in one process. Closed through `resources`: each stops taking and finishes what it has in hand. */
export async function openWorkers(
  resources: AsyncDisposableStack,
  chosen: readonly Worker[],
  config: Config,
  log: Log,
  override: Partial<WorkerDeps> = {},
): Promise<WorkerDeps> {
  const platform = await openPlatform(resources, `signalbox-${chosen.map(({ name }) => name).join('+')}`, config, log)
  const live = resources.use(createLiveAnnouncer(platform.broker))
  const deps: WorkerDeps = { config, ...platform, log, now: nowMicros, live, ...override }
  for (const worker of chosen) {
    const opened = worker.start({ ...deps, log: deps.log.child({ worker: worker.name }) })
    for (const part of opened) resources.use(part)
  }
  return deps
}
