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

/** The tasks that listeners run beside the event loop. */
export type IngressTasks = typeof import('./threads/tasks.ts').tasks

/** Dependencies of the HTTP listeners. Built once, by `openIngress`; tests replace members. */
export interface IngressDeps {
  config: Config
  db: Knex
  /** a small separate pool, so that health answers while the main pool is exhausted */
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
  /** reasons why every ping is refused now, for all clients; a late loop, shutdown or missing change events are none */
  pingRefusals: Readiness
  /** reports the problems because of which this process must not take part */
  installation: Pick<Installation, 'problems' | 'generations'>
  /** for what would hold up the event loop: its cost grows with what was stored or sent */
  threads: Threads<IngressTasks>
  turns: EventLoopMonitor
  /** agent keys as this process knows them */
  agents: AgentDirectory
  /** aborted when the process must stop: it still serves, but reports that it is not ready for more */
  draining: AbortSignal
  clock: Clock
  /** the database's time, which every process shares */
  now(): Micros
  /** notifies every ingress process, this one included, after the change has committed */
  announce(change: CacheChange): void
  /** hears what changed, at a worker or at any listener, after it has committed; some of it may be lost */
  onLive(listener: (change: LiveChange | CacheChange) => void): void
  /** proxies whose forwarding headers are trusted */
  trustedProxies: TrustedProxies
  /** accepted API keys by digest, so that neither the cache nor a dump of it holds a key; for a few seconds */
  projectKeys: LRUCache<string, ProjectKey>
  /** the API's rate limits, which all processes share */
  tokens: TokenTaker
  /** lists of checks, as the API sends them */
  checkLists: SharedReads<{ pieces: Buffer[]; lagMs: number }>
  uuidsOfUniqueKeys: LRUCache<string, string>
  badges: BadgeService
  /** histories of status pages, each with what was rendered from it */
  publicHistories: ShortCache<SharedHistory>
  /** the pages that are open now */
  watchers: Watchers
  /** discoveries of sign-in services, by issuer */
  oidcIssuers: Map<string, Promise<OidcConfiguration>>
  /** attempts at tokens that are decided on now */
  tokenSlots: Slots
  /** by project: those that wait for its lock hold no connection of the pool */
  importSlots: Slots
  /** replies of workers to requests that wait for them */
  replies: Replies
  risk: RiskServices
  logKeys: Map<ApiEnv, NoteKey>
  /** resolves the host name of a webhook to its addresses */
  resolve: Resolve
}
