import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'amqplib'
import test from 'ava'
import { queueDeclarations } from '#shared/contracts/topology.ts'
import { dropVhosts, vhostExists } from '../../stack/broker-admin.ts'
import { databaseName, withClient } from '../../stack/database-admin.ts'
import { brokerServer, createDatabase, createVhost, postgresServer } from '../support/services.ts'
import { makeVhostPool, takeVhost, vhostsOf } from '../support/vhost-pool.ts'

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

test('a pool gives each virtual host once, makes more when none is left, and deletes none', async (t) => {
  const broker = await brokerServer()
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-vhosts-'))
  await makeVhostPool(folder, broker, 1)
  const names = await Promise.all([takeVhost(folder, broker), takeVhost(folder, broker)])
  t.is(new Set(names).size, 2)
  const all = vhostsOf(folder)
  t.true(names.every((name) => all.includes(name)))
  for (const name of names) t.true(await vhostExists(broker.control, broker.url, name))
  await dropVhosts(broker.control, broker.url, all)
  rmSync(folder, { recursive: true })
})

test('a virtual host of a run is emptied and not deleted while the run lasts', async (t) => {
  const vhost = await createVhost()
  const connection = await connect(vhost.url)
  const channel = await connection.createChannel()
  const [queue] = queueDeclarations(1)
  if (!queue) throw new Error('the product declares no queues')
  await channel.assertQueue(queue.name, { durable: true })
  await vhost.drop()
  const error = new Promise((resolve) => channel.once('error', resolve))
  await t.throwsAsync(channel.checkQueue(queue.name), { message: /NOT_FOUND/ })
  await error
  await connection.close()
})
