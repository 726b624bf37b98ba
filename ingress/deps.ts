import type { Knex } from 'knex'
import type { Broker } from '#shared/platform/broker.ts'
import type { Config } from '#shared/platform/config.ts'
import type { Log } from '#shared/platform/log.ts'
import type { Metrics } from '#shared/platform/metrics.ts'
import type { Outbox } from '#shared/platform/outbox.ts'
import type { Secrets } from '#shared/platform/secrets.ts'
import type { Micros } from '#shared/time.ts'

/** A change that every ingress process must forget its cached copy for. */
export type CacheChange = { kind: 'check'; uuid: string } | { kind: 'project'; projectId: number }

/** Passed before a read that shows what pings have changed (design: read your writes). */
export interface Barrier {
  /**
   * Waits until everything that was accepted before is applied, at most 500 ms.
   * @param checkIds the checks that will be read; `all` for lists
   * @returns milliseconds waited in vain when it timed out, 0 otherwise; the answer then carries X-Signalbox-Lag
   */
  pass(checkIds: readonly number[] | 'all'): Promise<number>
}

/** What the doors are given. Built once, in an entry file; tests replace members. */
export interface IngressDeps {
  config: Config
  db: Knex
  /** a small pool of its own, so that health answers while the main pool is exhausted */
  healthDb: Knex
  broker: Broker
  outbox: Outbox
  barrier: Barrier
  secrets: Secrets
  log: Log
  metrics: Metrics
  now(): Micros
  /** tells every ingress process, this one included, after the change has committed */
  announce(change: CacheChange): void
}
