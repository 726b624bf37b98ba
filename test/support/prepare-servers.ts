import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { dropVhosts } from '../../stack/broker-admin.ts'
import { withClient } from '../../stack/database-admin.ts'
import { localBinaries } from '../../stack/local-binaries.ts'
import { type ProcessIdentity, stopProcess } from '../../stack/process-identity.ts'
import { type Origin, resolveServices, type Starter } from '../../stack/resolve-services.ts'
import { orderOfOrigins } from '../../stack/stack-settings.ts'
import { testContainers } from './containers.ts'
import { makeRunFolder } from './run-folder.ts'
import { ensureTemplate } from './template-database.ts'
import type { TestGroup } from './test-groups.ts'
import { makeVhostPool, vhostsOf } from './vhost-pool.ts'

/** Durability is off, because data need not survive the run. */
const OF_A_RUN = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' }

/**
 * Each of the hundreds of queues of the tests runs its maintenance once a minute, not every five seconds: together that
 * takes a twentieth of the machine. Requested counts are still immediate.
 */
const BROKER_OF_A_RUN = '-rabbit quorum_tick_interval 60000'

/** Virtual hosts created in advance: one for each group, and some for tests that open separate products. */
const VHOSTS_PER_GROUP = 2

/**
 * Starts what the groups need: nothing for unit tests; else PostgreSQL and RabbitMQ with a migrated template database and
 * virtual hosts. Where PostgreSQL and RabbitMQ are installed or a Docker engine responds, the run has its own servers.
 * @param ended aborted when the run must end: starts nothing more and stops started servers
 * @returns the environment of the tests; disposing stops and removes everything that was started here
 */
export async function prepareServers(
  groups: readonly TestGroup[],
  report: (line: string) => void,
  ended: AbortSignal,
): Promise<AsyncDisposable & { environment: Record<string, string> }> {
  if (groups.every(({ layer }) => layer === 'unit')) return { environment: {}, [Symbol.asyncDispose]: async () => {} }
  await using cleanup = new AsyncDisposableStack()
  const folder = makeRunFolder()
  // A server that was just stopped may still write.
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
      ended,
    ),
    order: { postgres: ownFirst(order), rabbitmq: ownFirst(order) },
    report,
  })
  ended.throwIfAborted()
  const ports = join(folder, 'ports')
  mkdirSync(ports)
  const pool = join(folder, 'vhosts')
  report(`PostgreSQL: ${postgres.origin}, RabbitMQ: ${broker.origin}`)

  const { control } = broker
  if (!control)
    throw new Error('tests need a broker they may administer (management API on port 15672, or rabbitmqctl)')
  await makeVhostPool(pool, { url: broker.url, control }, VHOSTS_PER_GROUP * groups.length)
  // The virtual hosts are deleted after the last test, because the broker may outlive the run.
  if (broker.origin === 'environment' || broker.origin === 'localhost')
    cleanup.defer(() => dropVhosts(control, broker.url, vhostsOf(pool)))
  ended.throwIfAborted()
  const { name: template, isNew } = await ensureTemplate(postgres.url)
  if (isNew) cleanup.defer(() => dropTemplate(postgres.url, template))
  ended.throwIfAborted()
  const kept = cleanup.move()
  return {
    environment: {
      TEST_DATABASE_URL: postgres.url,
      TEST_AMQP_URL: broker.url,
      TEST_BROKER_CONTROL: JSON.stringify(control),
      TEST_TEMPLATE: template,
      TEST_VHOST_POOL: pool,
      TEST_PORTS: ports,
      // Fault tests delete or change what the product declares, so their virtual hosts are used once.
      ...(groups.some(({ layer }) => layer === 'system') && { TEST_VHOSTS: 'fresh' }),
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Stops the started servers from the moment they run: the next step may fail, or a signal may end it. */
function takenBack(own: Starter, cleanup: AsyncDisposableStack, ended: AbortSignal): Starter {
  async function started<Found extends { process?: ProcessIdentity | undefined }>(
    start: () => Promise<Found>,
    signal: NodeJS.Signals,
  ): Promise<Found> {
    ended.throwIfAborted()
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
 * Servers on the standard ports are shared with other work on this machine, accept a hundred connections where parallel
 * files open more, and sync every commit: they are the last choice, after servers that we start.
 */
function ownFirst(order: readonly Origin[]): Origin[] {
  return [...order.filter((origin) => origin !== 'localhost'), ...order.filter((origin) => origin === 'localhost')]
}

/** Another run may be copying it now; then a later run deletes it. */
async function dropTemplate(server: string, template: string): Promise<void> {
  await withClient(server, (client) => client.query(`drop database if exists ${pg.escapeIdentifier(template)}`)).catch(
    () => undefined,
  )
}
