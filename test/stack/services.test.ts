import { connect } from 'amqplib'
import test from 'ava'
import { databaseName, withClient } from '#shared/stack/database-admin.ts'
import { createDatabase, createVhost, postgresServer } from '../support/services.ts'

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
