import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'
import { createVhost } from '../../support/services.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { type MailProduct, startMail, withMailProject } from './mail-product.ts'

async function send(mail: MailProduct, address: string, text: string): Promise<string> {
  await using session = await startMail(mail.port, [address])
  session.write(`Subject: guarantee\r\n\r\n${text}\r\n.\r\n`)
  return await session.reply()
}

test('a mail is answered 250 only after the broker confirmed: 451 when it cannot, and nothing is lost of what it did', async (t) => {
  await using vhost = await createVhost()
  await using proxy = await startTcpProxy({ port: Number(new URL(vhost.url).port || 5672) })
  await using mail = await withMailProject(
    await openProduct({ listener: 'mail', env: { AMQP_URL: proxy.through(vhost.url), PUBLISH_TIMEOUT_MS: '5000' } }),
  )
  const check = await mail.addCheck()
  t.is(await send(mail, check.address, 'first'), '250 OK')

  proxy.blackhole(true)
  t.regex(await send(mail, check.address, 'into the void'), /^451/)

  proxy.cut({ refusing: true })
  await eventually('the loss of the broker to be noticed', () => mail.deps.broker.publisherEpoch === '')
  t.regex(await send(mail, check.address, 'large '.repeat(20_000)), /^451/)
  t.is(await mail.waitingMails(), 0, 'nothing is stored for a message that cannot be sent')

  proxy.restore()
  await mail.deps.broker.connected()
  await eventually('the publisher to come back', () => mail.deps.broker.publisherEpoch !== '')
  t.is(await send(mail, check.address, 'large again '.repeat(20_000)), '250 OK')
  t.is(await mail.waitingMails(), 1)

  // Only now a consumer reads the queues.
  await mail.workers(['ping-evaluator'])
  const pings = await mail.pings(check.id, 2)
  const bodies = pings.map(({ body }) => body?.toString().slice(22, 33))
  t.is(bodies[0], 'first\r\n')
  t.is(bodies.at(-1), 'large again')
  t.is(await mail.waitingMails(), 0)
})

test('a mail whose ping never arrives is removed after a week', async (t) => {
  await using mail = await withMailProject(await openProduct({ listener: 'mail' }))
  const { db } = mail
  const row = (id: string, days: number) =>
    db('ping_bodies').insert({ id, body: Buffer.from('x'), created_at: db.raw(`now() - interval '${days} days'`) })
  await row('00000000-0000-4000-8000-000000000001', 6)
  await row('00000000-0000-4000-8000-000000000002', 8)
  await mail.workers(['sweeper'])
  await eventually('the old mail to be removed', async () => (await mail.waitingMails()) === 1)
  t.like(await db('ping_bodies').select('id').first(), { id: '00000000-0000-4000-8000-000000000001' })
})
