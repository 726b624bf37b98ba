import type { Knex } from 'knex'
import type { LiveChange } from '#shared/contracts/live-change.ts'
import type { Barriers } from '#shared/platform/barrier.ts'
import type { Broker } from '#shared/platform/broker.ts'
import type { Config } from '#shared/platform/config.ts'
import type { Log } from '#shared/platform/log.ts'
import type { Metrics } from '#shared/platform/metrics.ts'
import type { Outbox } from '#shared/platform/outbox.ts'
import type { Secrets } from '#shared/platform/secrets.ts'
import type { Micros } from '#shared/time.ts'

/** A change that every ingress process must forget its cached copy for. */
export type CacheChange = { kind: 'check'; uuid: string; projectId: number } | { kind: 'project'; projectId: number }

/** What the doors are given. Built once, in an entry file; tests replace members. */
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
  /** aborted once the process was told to stop: it still serves, but says that it is not ready for more */
  draining: AbortSignal
  now(): Micros
  /** tells every ingress process, this one included, after the change has committed */
  announce(change: CacheChange): void
  /** hears what changed, at a worker or at any door, after it has committed; some of it may be lost */
  onLive(listener: (change: LiveChange | CacheChange) => void): void
}
