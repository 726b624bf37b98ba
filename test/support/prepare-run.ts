import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createVhosts, dropVhosts } from '#shared/stack/broker-admin.ts'
import { withClient } from '#shared/stack/database-admin.ts'
import { localBinaries } from '#shared/stack/local-binaries.ts'
import { orderOfOrigins } from '#shared/stack/order-of-origins.ts'
import { stopProcess } from '#shared/stack/process-identity.ts'
import { resolveServices } from '#shared/stack/resolve-services.ts'
import { testContainers } from './containers.ts'
import { ensureTemplate } from './template-database.ts'

/**
 * Finds the services of a test run, migrates the template database and makes virtual hosts ahead: one call for all of
 * them takes little longer than one for each.
 * @returns the environment of the tests; disposing takes back everything made or started here
 */
export async function prepareRun(
  vhosts: number,
  report: (line: string) => void,
): Promise<AsyncDisposable & { environment: Record<string, string> }> {
  await using cleanup = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-test-'))
  chmodSync(folder, 0o755) // servers run as users of their own
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))

  const containers = testContainers()
  cleanup.defer(() => containers.stop())
  const order = orderOfOrigins(process.env.STACK_SERVICES, undefined)
  const { postgres, broker } = await resolveServices({
    databaseUrl: process.env.DATABASE_URL,
    amqpUrl: process.env.AMQP_URL,
    docker: containers,
    binaries: localBinaries({ folder, postgresOptions: { fsync: 'off', max_connections: '400' }, report }),
    order: { postgres: order, rabbitmq: order },
    report,
  })
  const servers = [broker.process, postgres.process].filter((server) => server !== undefined)
  cleanup.defer(async () => {
    for (const server of servers) await stopProcess(server, 'SIGQUIT', 0)
  })
  report(`PostgreSQL: ${postgres.origin}, RabbitMQ: ${broker.origin}`)

  const { name: template, isNew } = await ensureTemplate(postgres.url)
  if (isNew) cleanup.defer(() => dropTemplate(postgres.url, template))
  const { control } = broker
  if (!control)
    throw new Error('tests need a broker they may administer (management API on port 15672, or rabbitmqctl)')
  const pool = join(folder, 'vhosts')
  mkdirSync(pool)
  const run = randomBytes(4).toString('hex')
  const names = Array.from({ length: vhosts }, (_, index) => `signalbox-test-${run}-${index}`)
  if (names.length > 0) {
    cleanup.defer(() => dropVhosts(control, broker.url, names))
    await createVhosts(control, broker.url, names)
  }
  for (const name of names) writeFileSync(join(pool, name), '')
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

/** Another run may be copying it this very moment: then it is left to that run's successor. */
async function dropTemplate(server: string, template: string): Promise<void> {
  await withClient(server, (client) => client.query(`drop database if exists ${pg.escapeIdentifier(template)}`)).catch(
    () => undefined,
  )
}
