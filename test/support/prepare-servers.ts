import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { dropVhosts } from '../../stack/broker-admin.ts'
import { withClient } from '../../stack/database-admin.ts'
import { localBinaries } from '../../stack/local-binaries.ts'
import { type ProcessIdentity, stopProcess } from '../../stack/process-identity.ts'
import { type Origin, resolveServices, type Starter } from '../../stack/resolve-services.ts'
import { orderOfOrigins } from '../../stack/service-origins.ts'
import { testContainers } from './containers.ts'
import { keepBroker } from './keep-broker.ts'
import { makeRunFolder } from './run-folder.ts'
import { ensureTemplate } from './template-database.ts'
import { makeVhostPool, vhostsOf } from './vhost-pool.ts'

/** Nothing outlives the run, so nothing needs to outlive the machine. */
const OF_A_RUN = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' }

/**
 * Each of the hundreds of queues that tests hand on looks after itself once a minute, not every five seconds: together
 * that takes a twentieth of the machine. What is asked for is counted at once all the same.
 */
const BROKER_OF_A_RUN = '-rabbit quorum_tick_interval 60000'

/**
 * Finds the services of a test run, migrates the template database and makes virtual hosts ahead. Where PostgreSQL and
 * RabbitMQ are installed or a Docker engine answers, the run has servers of its own.
 * @param vhosts how many virtual hosts to make ahead
 * @param over aborted when the run is to end: nothing further begins then, and what runs is taken back
 * @returns the environment of the tests; disposing takes back everything made or started here
 */
export async function prepareRun(
  vhosts: number,
  report: (line: string) => void,
  over: AbortSignal,
): Promise<AsyncDisposable & { environment: Record<string, string> }> {
  await using cleanup = new AsyncDisposableStack()
  const folder = makeRunFolder()
  // A server that was just ended may still write.
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))

  const containers = testContainers()
  cleanup.defer(() => containers.stop())
  const order = orderOfOrigins(process.env.STACK_SERVICES, undefined)
  const { postgres, broker } = await resolveServices({
    databaseUrl: process.env.DATABASE_URL,
    amqpUrl: process.env.AMQP_URL,
    docker: containers,
    binaries: takenBack(
      localBinaries({ folder, postgresOptions: OF_A_RUN, brokerErlang: BROKER_OF_A_RUN, report }),
      cleanup,
      over,
    ),
    order: { postgres: ownFirst(order), rabbitmq: ownFirst(order) },
    report,
  })
  over.throwIfAborted()
  const ports = join(folder, 'ports')
  mkdirSync(ports)
  const pool = join(folder, 'vhosts')
  if (broker.process) {
    const { pid } = broker.process
    const node = { folder: join(folder, 'rabbitmq'), url: broker.url, pid }
    cleanup.use(keepBroker({ ...node, vhosts: () => vhostsOf(pool), report }))
  }
  report(`PostgreSQL: ${postgres.origin}, RabbitMQ: ${broker.origin}`)

  const { control } = broker
  if (!control)
    throw new Error('tests need a broker they may administer (management API on port 15672, or rabbitmqctl)')
  await makeVhostPool(pool, { url: broker.url, control }, vhosts)
  // A broker that outlives the run gets its virtual hosts taken back when no test runs any more.
  if (broker.origin === 'environment' || broker.origin === 'localhost')
    cleanup.defer(() => dropVhosts(control, broker.url, vhostsOf(pool)))
  over.throwIfAborted()
  const { name: template, isNew } = await ensureTemplate(postgres.url)
  if (isNew) cleanup.defer(() => dropTemplate(postgres.url, template))
  over.throwIfAborted()
  const kept = cleanup.move()
  return {
    environment: {
      TEST_DATABASE_URL: postgres.url,
      TEST_AMQP_URL: broker.url,
      TEST_BROKER_CONTROL: JSON.stringify(control),
      TEST_TEMPLATE: template,
      TEST_VHOST_POOL: pool,
      TEST_PORTS: ports,
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Servers of our own are taken back from the moment they run: what comes next may fail, or a signal may end it. */
function takenBack(own: Starter, cleanup: AsyncDisposableStack, over: AbortSignal): Starter {
  async function started<Found extends { process?: ProcessIdentity | undefined }>(
    start: () => Promise<Found>,
    signal: NodeJS.Signals,
  ): Promise<Found> {
    over.throwIfAborted()
    const found = await start()
    const { process: server } = found
    if (server) cleanup.defer(async () => void (await stopProcess(server, signal, 10_000)))
    return found
  }
  return {
    unavailable: (service) => own.unavailable(service),
    postgres: () => started(() => own.postgres(), 'SIGQUIT'),
    broker: () => started(() => own.broker(), 'SIGKILL'),
  }
}

/**
 * Servers on the standard ports are shared with whoever works on this machine, take a hundred connections where files
 * side by side open more, and sync every commit: they come last, servers of our own before.
 */
function ownFirst(order: readonly Origin[]): Origin[] {
  return [...order.filter((origin) => origin !== 'localhost'), ...order.filter((origin) => origin === 'localhost')]
}

/** Another run may be copying it this very moment: then it is left to that run's successor. */
async function dropTemplate(server: string, template: string): Promise<void> {
  await withClient(server, (client) => client.query(`drop database if exists ${pg.escapeIdentifier(template)}`)).catch(
    () => undefined,
  )
}
