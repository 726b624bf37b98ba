import type { Knex } from 'knex'
import type { Broker } from '#shared/platform/broker/broker.ts'
import type { LiveAnnouncer } from '#shared/platform/broker/live-announcer.ts'
import type { Outbox } from '#shared/platform/broker/outbox.ts'
import type { Installation } from '#shared/platform/database/installation.ts'
import type { Clock } from '#shared/platform/process/clock.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import type { Metrics } from '#shared/platform/process/metrics.ts'
import type { Readiness } from '#shared/platform/process/open-platform.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { Tracer } from '#shared/platform/process/tracing.ts'
import type { Micros } from '#shared/time.ts'

/** Created once in main.ts; tests replace members. */
export interface WorkerDeps {
  config: Config
  db: Knex
  /** the sweeper and health must work while the main pool is exhausted */
  reserveDb: Knex
  broker: Broker
  readiness: Pick<Readiness, 'add'>
  outbox: Outbox
  secrets: Secrets
  log: Log
  metrics: Metrics
  tracer: Tracer
  clock: Clock
  installation: Pick<Installation, 'generations'>
  now(): Micros
  live: LiveAnnouncer
  /** tests only: ends the process at a named point */
  crashPoint(point: string): void
}

export interface Worker {
  name: string
  /** alerts, mails, webhooks or signatures leave through it: it stays stopped on a restored copy */
  sends?: true
  /** Disposed in reverse order at shutdown. */
  start(deps: WorkerDeps): AsyncDisposable[]
}
