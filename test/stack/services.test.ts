import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'amqplib'
import test from 'ava'
import { queueDeclarations } from '#shared/contracts/topology.ts'
import { dropVhosts, vhostExists, vhostUrl } from '../../stack/broker-admin.ts'
import { databaseName, withClient } from '../../stack/database-admin.ts'
import { brokerServer, createDatabase, createVhost, postgresServer } from '../support/services.ts'
import { giveVhostBack, makeVhostPool, takeVhost, vhostsOf } from '../support/vhost-pool.ts'

test('each test file gets a migrated database of its own, and nothing is left of it', async (t) => {
  const one = await createDatabase()
  const two = await createDatabase()
  t.not(one.url, two.url)
  await withClient(one.url, async (client) => {
    const { rowCount } = await client.query("select 1 from information_schema.tables where table_name = 'checks'")
    t.is(rowCount, 1)
  })
  await one.drop()
  await two.drop()
  await withClient(await postgresServer(), async (client) => {
    const names = [databaseName(one.url), databaseName(two.url)]
    t.is((await client.query('select 1 from pg_database where datname = any($1)', [names])).rowCount, 0)
  })
})

test('each test file gets an empty virtual host of its own', async (t) => {
  await using one = await createVhost()
  await using two = await createVhost()
  t.not(one.url, two.url)
  const connection = await connect(one.url)
  const channel = await connection.createChannel()
  const { messageCount } = await channel.assertQueue('mine', { exclusive: true })
  t.is(messageCount, 0)
  await connection.close()
})

test('a pool gives each virtual host to one at a time, makes more when none is left, and deletes none', async (t) => {
  await using pool = await openPool()
  const names = await Promise.all([pool.take(), pool.take()])
  t.is(new Set(names).size, 2)
  const all = vhostsOf(pool.folder)
  t.true(names.every((name) => all.includes(name)))
  for (const name of names) t.true(await vhostExists(pool.broker.control, pool.broker.url, name))
  const [first] = names
  await giveVhostBack(pool.folder, first)
  t.not(await pool.take(true), first, 'who asks for one that nobody had gets no other')
  t.is(await pool.take(), first)
})

test('a virtual host that is given back is empty when the next one gets it', async (t) => {
  await using pool = await openPool()
  const name = await pool.take()
  const [queue, other] = queueDeclarations(3).filter(({ name }) => ['pings.0', 'pings.2'].includes(name))
  if (!queue || !other) throw new Error('the product declares other queues')
  await using before = await pool.channel(name)
  for (const { name, arguments: its } of [queue, other]) {
    await before.channel.assertQueue(name, { durable: true, arguments: its })
    before.channel.sendToQueue(name, Buffer.from('left behind'))
  }
  await before.channel.consume(queue.name, () => {}) // handed out and never settled
  await giveVhostBack(pool.folder, name)
  const taken = pool.take()
  await before.end()
  t.is(await taken, name, 'it waits until nobody takes messages from it')
  await using after = await pool.channel(name)
  t.is((await after.channel.checkQueue(queue.name)).messageCount, 0)
  await t.throwsAsync(after.channel.checkQueue(other.name), { message: /NOT_FOUND/ })
})

test('a virtual host with a queue that the product would declare otherwise is left aside', async (t) => {
  await using pool = await openPool()
  const name = await pool.take()
  await using before = await pool.channel(name)
  await before.channel.assertQueue('pings.0', { durable: true })
  await giveVhostBack(pool.folder, name)
  t.not(await pool.take(), name)
})

/** A pool of its own with one virtual host. */
async function openPool() {
  const broker = await brokerServer()
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-vhosts-'))
  await makeVhostPool(folder, broker, 1)
  return {
    broker,
    folder,
    take: (isFresh?: boolean) => takeVhost(folder, broker, isFresh),
    async channel(name: string) {
      const connection = await connect(vhostUrl(broker.url, name))
      const channel = await connection.createChannel()
      channel.on('error', () => {})
      const end = () => connection.close().catch(() => {})
      return { channel, end, [Symbol.asyncDispose]: end }
    },
    async [Symbol.asyncDispose]() {
      // The run takes them back with its own, when nobody uses the broker any more.
      const ofRun = process.env.TEST_VHOST_POOL
      if (ofRun) for (const name of vhostsOf(folder)) writeFileSync(join(ofRun, 'taken', name), '')
      else await dropVhosts(broker.control, broker.url, vhostsOf(folder))
      rmSync(folder, { recursive: true })
    },
  }
}
