import type { Log } from '#shared/platform/process/log.ts'
import type { Platform } from '#shared/platform/process/open-platform.ts'
import { openThreads, type Threads } from '#shared/platform/process/threads.ts'
import { createAnnouncements } from './announcements.ts'
import type { IngressTasks } from './deps.ts'
import { type EventLoopMonitor, monitorEventLoop } from './event-loop-monitor.ts'

/** Parts that the listeners of a process share. */
export interface ListenerProcess {
  platform: Platform
  announcements: ReturnType<typeof createAnnouncements>
  threads: Threads<IngressTasks>
  eventLoop: EventLoopMonitor
}

export function openListenerProcess(resources: AsyncDisposableStack, platform: Platform, log: Log): ListenerProcess {
  const { broker, metrics } = platform
  return {
    platform,
    announcements: createAnnouncements(broker),
    threads: resources.use(openThreads<IngressTasks>(new URL('./threads/tasks.ts', import.meta.url), { log, metrics })),
    eventLoop: resources.use(monitorEventLoop({ log, metrics })),
  }
}
