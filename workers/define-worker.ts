import type { Knex } from 'knex'
import type { Broker } from '#shared/platform/broker.ts'
import type { Config } from '#shared/platform/config.ts'
import type { LiveAnnouncer } from '#shared/platform/live-announcer.ts'
import type { Log } from '#shared/platform/log.ts'
import type { Metrics } from '#shared/platform/metrics.ts'
import type { Outbox } from '#shared/platform/outbox.ts'
import type { Secrets } from '#shared/platform/secrets.ts'
import { type Subscription, subscribe } from '#shared/platform/worker.ts'
import type { Micros } from '#shared/time.ts'

/** What a worker is given. Built once in main.ts; tests replace members. */
export interface WorkerDeps {
  config: Config
  db: Knex
  /** a small pool of its own for the sweeper and health, which must work while the main pool is exhausted */
  reserveDb: Knex
  broker: Broker
  outbox: Outbox
  secrets: Secrets
  log: Log
  metrics: Metrics
  now(): Micros
  /** tells open pages of what has committed */
  live: LiveAnnouncer
  /** tests only: ends the process at a named point */
  crashPoint(point: string): void
}

export interface Worker {
  name: string
  /** Opens whatever the worker runs on. Closed in reverse order at shutdown. */
  start(deps: WorkerDeps): AsyncDisposable[]
}

/** A worker that handles messages, each subscription independently. */
export function defineWorker(name: string, subscriptions: (deps: WorkerDeps) => Subscription[]): Worker {
  return {
    name,
    start: (deps) => subscriptions(deps).map((subscription) => subscribe(name, subscription, deps)),
  }
}
