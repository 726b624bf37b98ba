import type { Knex } from 'knex'
import { queuesOf } from '../../contracts/ping-generations.ts'
import { queueDeclarations } from '../../contracts/topology.ts'
import type { Micros } from '../../time.ts'
import { type Broker, openBroker } from '../broker/broker.ts'
import { brokerOfRole } from '../broker/broker-of-role.ts'
import { createOutbox, type Outbox } from '../broker/outbox.ts'
import { openDatabase } from '../database/db.ts'
import { databaseFailure } from '../database/error-class.ts'
import { type Installation, openInstallation } from '../database/installation.ts'
import { bypassesRowSecurity, pingServer } from '../database/server.ts'
import { createTimelineFence, type TimelineFence } from '../database/timeline-fence.ts'
import { createConnectionCap } from '../http/connection-cap.ts'
import { type Clock, openClock } from './clock.ts'
import { type Config, ConfigError } from './config.ts'
import { createCrashPoints } from './crash-point.ts'
import type { Log } from './log.ts'
import { createMetrics, type Metrics, serveMetrics } from './metrics.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import { openTracing } from './trace-export.ts'
import type { Tracer } from './tracing.ts'
import { isLoopback } from './unsafe-settings.ts'

/** A scraper or load balancer keeps one connection or two. */
const METRICS_CONNECTIONS_PER_ADDRESS = 100

export interface Platform {
  db: Knex
  /** a separate pool: health and the sweeper work while the main one is exhausted */
  reserveDb: Knex
  fence: TimelineFence
  clock: Clock
  now: () => Micros
  broker: Broker
  outbox: Outbox
  secrets: Secrets
  metrics: Metrics
  tracer: Tracer
  crashPoint: (point: string) => void
  readiness: Readiness
  /** the same without the database, which a ping does not need; a process that is busy or stops is not ready */
  pingReadiness: Readiness
  /** reasons why each ping is answered 503 now; a subset of the reasons why the process is not ready */
  pingRefusals: Readiness
  installation: Installation
  /** the reasons of the platform itself, without those that were added */
  ownProblems: Problems
}

/** One short sentence per reason, for operators; empty if the process can work. */
export type Problems = () => string[] | Promise<string[]>

export interface Readiness {
  problems(): Promise<string[]>
  add(problems: Problems): void
}

/** The servers may be unavailable at first. Throws ConfigError if the login of the database is known to be unsafe. */
export async function openPlatform(
  resources: AsyncDisposableStack,
  name: string,
  config: Config,
  log: Log,
): Promise<Platform> {
  for (const warning of config.warnings) log.warn({ warning }, 'settings.deprecated')
  const metrics = createMetrics()
  const tracing = { url: config.tracesUrl, percent: config.tracesPercent, service: name, log }
  const tracer = resources.use(openTracing(tracing))
  const fence = createTimelineFence()
  const { db, reserveDb } = openPools(resources, config, { name, fence, metrics, label: '' })
  const clock = resources.use(openClock(reserveDb, { skewMs: config.clockSkewMs ?? 0, log, metrics }))
  const installation = resources.use(openInstallation(reserveDb, config.pingShards, log))
  // Ping queues are declared together with the others if their number is known.
  await installation.firstCheck()
  const isPublic = !isLoopback(config.host)
  if (isPublic && (await databaseProblems(reserveDb, isPublic)).includes(UNSAFE_LOGIN))
    throw new ConfigError([UNSAFE_LOGIN])
  const broker = openBroker({
    url: config.amqpUrl,
    name,
    queues: () => queueDeclarations(installation.generations().flatMap(queuesOf)),
    publishTimeoutMs: config.publishTimeoutMs,
    log,
    metrics,
  })
  resources.use(broker)
  installation.onGenerations(() => broker.extend())
  const ownProblems = async () =>
    (
      await Promise.all([
        databaseProblems(reserveDb, isPublic),
        installation.problems(),
        clock.problems(),
        broker.connectionProblems(),
      ])
    ).flat()
  const readiness = createReadiness([ownProblems, broker.problems])
  const connections = createConnectionCap(METRICS_CONNECTIONS_PER_ADDRESS, [])
  const listener = { port: config.metricsPort, host: config.metricsHost, connections }
  resources.use(await serveMetrics(metrics, listener, readiness.problems))
  const outbox = createOutbox(db, broker, log)
  resources.defer(() => outbox.settled())
  return {
    db,
    reserveDb,
    fence,
    clock,
    now: clock.now,
    broker,
    outbox,
    secrets: createSecrets(config.secretKey, config.secretKeyPrevious),
    metrics,
    tracer,
    crashPoint: createCrashPoints(config.crashAt),
    readiness,
    pingReadiness: createReadiness([installation.problems, broker.problems]),
    pingRefusals: createReadiness([installation.problems, broker.publishProblems]),
    installation,
    ownProblems,
  }
}

/**
 * Returns the platform for one role of a process with several. Reasons that the role adds, and the consumers that it
 * opens, count for the role and for the process, not for its other roles.
 * @param pools opens separate database pools under this name, so that the load of one role leaves the others theirs
 */
export function openRole(
  resources: AsyncDisposableStack,
  platform: Platform,
  pools?: { name: string; label: string; config: Config; log: Log },
): Platform {
  const { fence, metrics, installation, ownProblems } = platform
  const broker = brokerOfRole(platform.broker)
  const role = {
    ...platform,
    broker,
    readiness: createReadiness([ownProblems, broker.problems], platform.readiness),
    pingReadiness: createReadiness([installation.problems, broker.problems]),
  }
  if (!pools) return role
  const opened = openPools(resources, pools.config, { ...pools, fence, metrics })
  const outbox = createOutbox(opened.db, broker, pools.log)
  resources.defer(() => outbox.settled())
  return { ...role, ...opened, outbox }
}

/** @param process receives the added sources too */
function createReadiness(sources: Problems[], process?: Pick<Readiness, 'add'>): Readiness {
  return {
    async problems() {
      return [...new Set((await Promise.all(sources.map((problems) => problems()))).flat())]
    },
    add(problems) {
      sources.push(problems)
      process?.add(problems)
    },
  }
}

/** @param options.label begins the names of the pools in the metrics */
function openPools(
  resources: AsyncDisposableStack,
  config: Config,
  { name, fence, metrics, label }: { name: string; fence: TimelineFence; metrics: Metrics; label: string },
): Pick<Platform, 'db' | 'reserveDb'> {
  const database = {
    url: config.databaseUrl,
    timeoutMs: config.databaseTimeoutMs,
    pooler: config.databasePooler,
    fence,
  }
  const db = openDatabase({ ...database, name, poolSize: config.dbPool })
  resources.defer(() => db.destroy())
  const reserveDb = openDatabase({ ...database, name: `${name}:reserve`, poolSize: 3 })
  resources.defer(() => reserveDb.destroy())
  watchPools(metrics, { [`${label}main`]: db, [`${label}reserve`]: reserveDb })
  return { db, reserveDb }
}

function watchPools(metrics: Metrics, pools: Record<string, Knex>): void {
  for (const [pool, db] of Object.entries(pools)) {
    // A closed knex has no pool.
    const of = (): Pool | undefined => db.client.pool
    metrics.poolInUse.read((gauge) => gauge.set({ pool }, of()?.numUsed() ?? 0))
    metrics.poolWaiting.read((gauge) => gauge.set({ pool }, of()?.numPendingAcquires() ?? 0))
  }
}

interface Pool {
  numUsed(): number
  numPendingAcquires(): number
}

/** Without row security a query without a tenant would reach the rows of all tenants. */
const UNSAFE_LOGIN =
  'database: the login of DATABASE_URL is a superuser or has BYPASSRLS, which is refused where HOST is not a loopback address: set DATABASE_OWNER_URL and run npm run -s migrate'

async function databaseProblems(db: Knex, isPublic: boolean): Promise<string[]> {
  try {
    if (isPublic && (await bypassesRowSecurity(db))) return [UNSAFE_LOGIN]
    if (!isPublic) await pingServer(db)
    return []
  } catch (error) {
    return [`database: ${databaseFailure(error)}`]
  }
}
