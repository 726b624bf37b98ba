import type { Knex } from 'knex'
import { queueDeclarations } from '../contracts/topology.ts'
import { type Broker, openBroker } from './broker.ts'
import type { Config } from './config.ts'
import { createCrashPoints } from './crash-point.ts'
import { openDatabase } from './db.ts'
import type { Log } from './log.ts'
import { createMetrics, type Metrics, serveMetrics } from './metrics.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { createSecrets, type Secrets } from './secrets.ts'

/** What every process stands on. */
export interface Platform {
  db: Knex
  /** a small pool of its own: health and the sweeper work while the main one is exhausted */
  reserveDb: Knex
  broker: Broker
  outbox: Outbox
  secrets: Secrets
  metrics: Metrics
  crashPoint: (point: string) => void
}

/**
 * Opens database pools, broker and metrics; neither server has to be there yet. Each registers its own closing.
 * @param name shown in the servers' lists of connections
 */
export async function openPlatform(
  resources: AsyncDisposableStack,
  name: string,
  config: Config,
  log: Log,
): Promise<Platform> {
  const metrics = createMetrics()
  const database = { url: config.databaseUrl, timeoutMs: config.databaseTimeoutMs }
  const db = openDatabase({ ...database, name, poolSize: config.dbPool })
  resources.defer(() => db.destroy())
  const reserveDb = openDatabase({ ...database, name: `${name}:reserve`, poolSize: 3 })
  resources.defer(() => reserveDb.destroy())
  const broker = openBroker({
    url: config.amqpUrl,
    name,
    queues: queueDeclarations(config.pingShards),
    publishTimeoutMs: config.publishTimeoutMs,
    log,
    metrics,
  })
  resources.use(broker)
  const problems = async () => [...(await databaseProblems(reserveDb)), ...broker.problems()]
  resources.use(await serveMetrics(metrics, { port: config.metricsPort, host: config.metricsHost }, problems))
  const outbox = createOutbox(db, broker, log)
  resources.defer(() => outbox.settled())
  return {
    db,
    reserveDb,
    broker,
    outbox,
    secrets: createSecrets(config.secretKey, config.secretKeyPrevious),
    metrics,
    crashPoint: createCrashPoints(config.crashAt),
  }
}

/** Why the database cannot be used now; empty when it can. */
async function databaseProblems(db: Knex): Promise<string[]> {
  try {
    await db.raw('SELECT 1')
    return []
  } catch {
    return ['database: cannot be reached']
  }
}
