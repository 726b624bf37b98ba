import { randomBytes } from 'node:crypto'
import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'amqplib'
import pg from 'pg'
import { queueDeclarations } from '#shared/contracts/topology.ts'
import { answeringBroker, answeringPostgres } from '#shared/stack/answering.ts'
import { type BrokerControl, createVhosts, dropVhosts, vhostUrl } from '#shared/stack/broker-admin.ts'
import { databaseUrl, withClient } from '#shared/stack/database-admin.ts'
import { ensureTemplate } from './template-database.ts'

/** More than any test sets PING_SHARDS to. */
const MOST_SHARDS = 8

export type TestResource = AsyncDisposable & { url: string; drop(): Promise<void> }

/**
 * A database of its own for one test file, cloned from a migrated template: some 50 ms.
 * Uses the servers `test/run.ts` found; a file run by itself uses those on localhost's standard ports.
 */
export async function createDatabase(): Promise<TestResource> {
  const server = await postgresServer()
  const name = `signalbox_test_${randomBytes(6).toString('hex')}`
  await cloneTemplate(server, name)
  return resource(databaseUrl(server, name), () =>
    withClient(server, async (client) => {
      await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
    }),
  )
}

/** A virtual host of its own for one test file, empty. */
export async function createVhost(): Promise<TestResource> {
  const { url, control } = await brokerServer()
  const ready = await takeReadyVhost()
  // Those made ahead are dropped all at once by the run that made them; their queues go at once, because a broker with
  // the usual limit of 1,024 open files stands still at some three hundred quorum queues.
  if (ready) return resource(vhostUrl(url, ready), () => deleteQueues(vhostUrl(url, ready)))
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
      // Another run may have dropped the template between our look and our copy, or be looking into it right now.
      const passes = error instanceof pg.DatabaseError && (error.code === '3D000' || error.code === '55006')
      if (!passes || attempt === 5) throw error
    }
  }
}

/** Deletes the product's queues in a virtual host, for any number of shards a test may have had. */
async function deleteQueues(url: string): Promise<void> {
  const connection = await connect(url)
  const channel = await connection.createChannel()
  for (const { name } of queueDeclarations(MOST_SHARDS)) await channel.deleteQueue(name)
  await connection.close()
}

/** Takes one of the virtual hosts that the run made ahead: whoever removes its file has it. */
async function takeReadyVhost(): Promise<string | undefined> {
  const folder = process.env.TEST_VHOST_POOL
  if (!folder) return undefined
  for (const name of await readdir(folder)) {
    try {
      await unlink(join(folder, name))
      return name
    } catch {
      // somebody else was faster
    }
  }
  return undefined
}

function resource(url: string, drop: () => Promise<void>): TestResource {
  return { url, drop, [Symbol.asyncDispose]: drop }
}
