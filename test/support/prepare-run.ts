import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { dropVhosts } from '../../stack/broker-admin.ts'
import { withClient } from '../../stack/database-admin.ts'
import { localBinaries } from '../../stack/local-binaries.ts'
import { stopProcess } from '../../stack/process-identity.ts'
import { type Origin, resolveServices } from '../../stack/resolve-services.ts'
import { orderOfOrigins } from '../../stack/service-origins.ts'
import { testContainers } from './containers.ts'
import { keepBroker } from './keep-broker.ts'
import { makeRunFolder } from './run-folder.ts'
import { ensureTemplate } from './template-database.ts'
import { makeVhostPool, vhostsOf } from './vhost-pool.ts'

/** Nothing outlives the run, so nothing needs to outlive the machine. */
const OF_A_RUN = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' }

/**
 * Finds the services of a test run, migrates the template database and makes virtual hosts ahead. Where PostgreSQL and
 * RabbitMQ are installed or a Docker engine answers, the run has servers of its own.
 * @param vhosts how many virtual hosts to make ahead
 * @returns the environment of the tests; disposing takes back everything made or started here
 */
export async function prepareRun(
  vhosts: number,
  report: (line: string) => void,
): Promise<AsyncDisposable & { environment: Record<string, string> }> {
  await using cleanup = new AsyncDisposableStack()
  const folder = makeRunFolder()
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))

  const containers = testContainers()
  cleanup.defer(() => containers.stop())
  const order = orderOfOrigins(process.env.STACK_SERVICES, undefined)
  const { postgres, broker } = await resolveServices({
    databaseUrl: process.env.DATABASE_URL,
    amqpUrl: process.env.AMQP_URL,
    docker: containers,
    binaries: localBinaries({ folder, postgresOptions: OF_A_RUN, report }),
    order: { postgres: ownFirst(order), rabbitmq: ownFirst(order) },
    report,
  })
  const { process: database } = postgres
  if (database) cleanup.defer(async () => void (await stopProcess(database, 'SIGQUIT', 0)))
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
  const { name: template, isNew } = await ensureTemplate(postgres.url)
  if (isNew) cleanup.defer(() => dropTemplate(postgres.url, template))
  const kept = cleanup.move()
  return {
    environment: {
      TEST_DATABASE_URL: postgres.url,
      TEST_AMQP_URL: broker.url,
      TEST_BROKER_CONTROL: JSON.stringify(control),
      TEST_TEMPLATE: template,
      TEST_VHOST_POOL: pool,
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
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
