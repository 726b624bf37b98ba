import { connect } from 'amqplib'
import test from 'ava'
import { withClient } from '../../stack/database-admin.ts'
import { brokerRefusal, postgresRefusal } from '../../stack/probe.ts'
import { startPostgres, startRabbit } from '../support/own-servers.ts'

test.serial('a PostgreSQL server of its own keeps what was committed through a kill', async (t) => {
  await using server = await startPostgres()
  await withClient(server.url, async (client) => {
    await client.query('create table kept (n int)')
    await client.query('insert into kept values (7)')
  })
  await server.kill()
  t.truthy(await postgresRefusal(server.url))
  await server.start()
  await withClient(server.url, async (client) => {
    t.deepEqual((await client.query('select n from kept')).rows, [{ n: 7 }])
  })
})

test.serial(
  'a broker of its own keeps confirmed messages through a kill, and blocks publishers on demand',
  async (t) => {
    await using broker = await startRabbit()
    const connection = await connect(broker.url)
    const channel = await connection.createConfirmChannel()
    await channel.assertQueue('kept', { durable: true, arguments: { 'x-queue-type': 'quorum' } })
    channel.sendToQueue('kept', Buffer.from('7'), { persistent: true })
    await channel.waitForConfirms()
    const blocked = new Promise((resolve) => connection.once('blocked', resolve))
    await broker.setMemoryWatermark(0)
    channel.sendToQueue('kept', Buffer.from('8'), { persistent: true })
    await blocked
    connection.on('error', () => undefined)
    await broker.kill()
    t.truthy(await brokerRefusal(broker.url))
    await broker.start()
    const again = await connect(broker.url)
    const reader = await again.createChannel()
    const first = await reader.get('kept', { noAck: true })
    t.is(first === false ? undefined : first.content.toString(), '7')
    await again.close()
  },
)
