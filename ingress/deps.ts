import type { Knex } from 'knex'
import type { LiveChange } from '#shared/contracts/live-change.ts'
import type { Barriers } from '#shared/platform/broker/barrier.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'
import type { Outbox } from '#shared/platform/broker/outbox.ts'
import type { Installation } from '#shared/platform/database/installation.ts'
import type { Clock } from '#shared/platform/process/clock.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import type { Metrics } from '#shared/platform/process/metrics.ts'
import type { Readiness } from '#shared/platform/process/open-platform.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { Threads } from '#shared/platform/process/threads.ts'
import type { Micros } from '#shared/time.ts'
import type { TurnWatch } from './turn-watch.ts'

/** The tasks that listeners run beside the event loop. */
export type IngressTasks = typeof import('./threads/tasks.ts').tasks

/** A change that every ingress process must forget its cached copy for. */
export type CacheChange = { kind: 'check'; uuid: string; projectId: number } | { kind: 'project'; projectId: number }

/** What the listeners are given. Built once, in an entry file; tests replace members. */
export interface IngressDeps {
  config: Config
  db: Knex
  /** a small pool of its own, so that health answers while the main pool is exhausted */
  healthDb: Knex
  broker: Broker
  outbox: Outbox
  barrier: Pick<Barriers, 'pass'>
  secrets: Secrets
  log: Log
  metrics: Metrics
  /** why this process cannot serve now, for the operator's eyes */
  readiness: Readiness
  /** why it cannot take pings now: the same without the database, which a ping does not need */
  pingReadiness: Readiness
  /** says whether this process may take part at all */
  installation: Pick<Installation, 'problems'>
  /** for what would hold up the event loop: its cost grows with what was stored or sent */
  threads: Threads<IngressTasks>
  turns: TurnWatch
  /** aborted once the process was told to stop: it still serves, but says that it is not ready for more */
  draining: AbortSignal
  clock: Clock
  /** the database's time, which every process shares */
  now(): Micros
  /** tells every ingress process, this one included, after the change has committed */
  announce(change: CacheChange): void
  /** hears what changed, at a worker or at any listener, after it has committed; some of it may be lost */
  onLive(listener: (change: LiveChange | CacheChange) => void): void
}
