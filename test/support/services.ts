import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { type BrokerControl, createVhosts, dropVhosts, vhostUrl } from '../../stack/broker-admin.ts'
import { databaseUrl, loginUrl, withClient } from '../../stack/database-admin.ts'
import { answeringBroker, answeringPostgres } from '../../stack/wait-until-ready.ts'
import { deleteQueues } from './empty-vhost.ts'
import { ensureTemplate, testLogin } from './template-database.ts'
import { giveVhostBack, takeVhost } from './vhost-pool.ts'

export type TestResource = AsyncDisposable & { url: string; drop(): Promise<void> }

/** `url` has the login of the owner, who sees every row; `loginUrl` has that of the product, with row security. */
export type TestDatabase = TestResource & { loginUrl: string }

/**
 * A separate database for one test file, cloned from a migrated template: some 50 ms.
 * Uses the servers that `test/run.ts` found; a file that runs alone uses those on localhost's standard ports.
 */
export async function createDatabase(): Promise<TestDatabase> {
  const server = await postgresServer()
  const name = `signalbox_test_${randomBytes(6).toString('hex')}`
  await cloneTemplate(server, name)
  const url = databaseUrl(server, name)
  const database = resource(url, () => dropDatabase(server, name))
  return { ...database, loginUrl: loginUrl(url, testLogin) }
}

/**
 * A separate virtual host for one test file, empty. Files that delete or change the product's declarations
 * (test/faults) get hosts that are used by no test before or after them.
 */
export async function createVhost(): Promise<TestResource> {
  const { url, control } = await brokerServer()
  const pool = process.env.TEST_VHOST_POOL
  if (!pool) return await createVhostOutsideRun(url, control)
  const isFresh = process.env.TEST_VHOSTS === 'fresh'
  const name = await takeVhost(pool, { url, control }, isFresh)
  const taken = vhostUrl(url, name)
  // The host stays until the run ends. Queues of a host that is not reused are deleted immediately, because a broker
  // with the usual limit of 1,024 open files stalls at some three hundred quorum queues.
  return resource(taken, () => (isFresh ? deleteQueues(taken) : giveVhostBack(pool, name)))
}

/** For a file that AVA runs alone, because the deletion affects no other test. */
async function createVhostOutsideRun(url: string, control: BrokerControl): Promise<TestResource> {
  const name = `signalbox-test-${randomBytes(6).toString('hex')}`
  await createVhosts(control, url, [name])
  return resource(vhostUrl(url, name), () => dropVhosts(control, url, [name]))
}

/** The PostgreSQL server of this run, with a login that may create databases. */
export async function postgresServer(): Promise<string> {
  const url = process.env.TEST_DATABASE_URL ?? (await answeringPostgres())
  if (!url) throw new Error('no PostgreSQL answers on 127.0.0.1:5432: start one, or run `make test`')
  return url
}

/** The broker of this run and how to administer it. */
export async function brokerServer(): Promise<{ url: string; control: BrokerControl }> {
  const { TEST_AMQP_URL, TEST_BROKER_CONTROL } = process.env
  if (TEST_AMQP_URL && TEST_BROKER_CONTROL) return { url: TEST_AMQP_URL, control: JSON.parse(TEST_BROKER_CONTROL) }
  const found = await answeringBroker()
  if (!found?.control) throw new Error('no RabbitMQ we may administer answers on 127.0.0.1:5672: run `make test`')
  return { url: found.url, control: found.control }
}

/** PostgreSQL gives connected sessions five seconds to end. */
async function dropDatabase(server: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withClient(server, async (client) => {
        await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
      })
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && error.code === '55006') || attempt === 5) throw error
    }
  }
}

async function cloneTemplate(server: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const template =
      attempt === 1 && process.env.TEST_TEMPLATE ? process.env.TEST_TEMPLATE : (await ensureTemplate(server)).name
    try {
      return await withClient(server, async (client) => {
        await client.query(
          `create database ${pg.escapeIdentifier(name)} template ${pg.escapeIdentifier(template)} strategy file_copy`,
        )
      })
    } catch (error) {
      // Another run may have dropped the template since our check, or may be connected to it.
      const passes = error instanceof pg.DatabaseError && (error.code === '3D000' || error.code === '55006')
      if (!passes || attempt === 5) throw error
    }
  }
}

function resource(url: string, drop: () => Promise<void>): TestResource {
  return { url, drop, [Symbol.asyncDispose]: drop }
}
