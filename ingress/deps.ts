import type { Knex } from 'knex'
import type { LRUCache } from 'lru-cache'
import type { Configuration as OidcConfiguration } from 'openid-client'
import type { CacheChange, LiveChange } from '#shared/contracts/ingress-messages.ts'
import type { ApiEnv } from '#shared/environment.ts'
import type { Replies } from '#shared/jobs/operations/work.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import type { Barriers } from '#shared/platform/broker/barrier.ts'
import type { Broker } from '#shared/platform/broker/broker.ts'
import type { Outbox } from '#shared/platform/broker/outbox.ts'
import type { Installation } from '#shared/platform/database/installation.ts'
import type { TrustedProxies } from '#shared/platform/http/remote-addr.ts'
import type { Resolve } from '#shared/platform/http/target-policy.ts'
import type { Clock } from '#shared/platform/process/clock.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import type { Metrics } from '#shared/platform/process/metrics.ts'
import type { Readiness } from '#shared/platform/process/open-platform.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { Threads } from '#shared/platform/process/threads.ts'
import type { Micros } from '#shared/time.ts'
import type { NoteKey } from '#shared/transparency/anchoring/note-key.ts'
import type { BadgeService } from './api-monitoring/badge-service.ts'
import type { SharedReads } from './api-monitoring/share-reads.ts'
import type { EventLoopMonitor } from './event-loop-monitor.ts'
import type { AgentDirectory } from './mcp/agent-directory.ts'
import type { ShortCache } from './middleware/short-cache.ts'
import type { TokenTaker } from './middleware/token-taker.ts'
import type { RiskServices } from './risk-services.ts'
import type { Slots } from './slots.ts'
import type { SharedHistory } from './web/monitoring/projects/public-history.ts'
import type { Watchers } from './web/shell/live-watchers.ts'

export type IngressTasks = typeof import('./threads/tasks.ts').tasks

/** Dependencies of the HTTP listeners; tests replace members. */
export interface IngressDeps {
  config: Config
  db: Knex
  /** a small separate pool, so that health checks and heartbeats work while the main pool is exhausted */
  reserveDb: Knex
  broker: Broker
  outbox: Outbox
  barrier: Pick<Barriers, 'pass'>
  secrets: Secrets
  log: Log
  metrics: Metrics
  /** reasons why this process cannot serve, for the operator */
  readiness: Readiness
  /** reasons why it cannot accept pings, which do not need the database */
  pingReadiness: Readiness
  /** reasons why every ping is refused; not for a late loop, shutdown or missing change events, which affect no ping */
  pingRefusals: Readiness
  /** reports problems because of which this process must not take part */
  installation: Pick<Installation, 'problems' | 'generations'>
  /** for tasks whose cost grows with stored or sent data, and which would block the event loop */
  threads: Threads<IngressTasks>
  eventLoop: EventLoopMonitor
  agents: AgentDirectory
  /** aborted at the start of a shutdown: the process still serves, but is not ready */
  draining: AbortSignal
  clock: Clock
  /** time of the database, which all processes share */
  now(): Micros
  /** notifies every ingress process, including this one; call it after the commit */
  announce(change: CacheChange): void
  /** receives committed changes of workers and listeners; some may be lost */
  onLive(listener: (change: LiveChange | CacheChange) => void): void
  trustedProxies: TrustedProxies
  /** accepted API keys for a few seconds, by digest, so that a memory dump contains no key */
  projectKeys: LRUCache<string, ProjectKey>
  tokens: TokenTaker
  checkLists: SharedReads<{ pieces: Buffer[]; lagMs: number }>
  uuidsOfUniqueKeys: LRUCache<string, string>
  badges: BadgeService
  /** histories of status pages with the texts rendered from them */
  publicHistories: ShortCache<SharedHistory>
  watchers: Watchers
  /** by issuer */
  oidcIssuers: Map<string, Promise<OidcConfiguration>>
  tokenSlots: Slots
  /** by project; a waiting import must not hold a connection of the pool */
  importSlots: Slots
  replies: Replies
  risk: RiskServices
  logKeys: Map<ApiEnv, NoteKey>
  resolve: Resolve
}
