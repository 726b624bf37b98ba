import test from 'ava'
import { EVENTS_EXCHANGE } from '#shared/contracts/topology.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'

test.serial(
  'queues, bindings and exchanges deleted under load are declared again without losing accepted pings',
  async (t) => {
    await using sink = await openHttpSink()
    await using product = await openProduct({ env: { PING_SHARDS: '2', ...LONG_LOG } })
    const project = await product.project()
    const { base, deps } = await product.ingress()
    const check = await addCheck(deps, project.id)
    await notify(product.db, [check], [await addWebhook(deps, project.id, sink.url)])
    await using workers = await product.workers(['ping-evaluator', 'notifier', 'sweeper'])
    await using probe = await openBrokerProbe(product.config.amqpUrl)
    const returned = async (metrics: typeof deps.metrics) => (await metrics.returned.get()).values[0]?.value ?? 0
    let changes = 0
    /** Asserts that a change during the missing topology is notified. */
    const change = async (what: string) => {
      changes += 1
      const way = changes % 2 === 1 ? 'down' : 'up'
      const from = sink.requests.length
      const answer = await fetch(`${base}/ping/${check.uuid}${way === 'down' ? '/fail' : ''}`)
      t.is(answer.status, 200)
      await eventually(`the notification of the change after ${what}`, async () => {
        // The sweeper retries unpublished changes after some seconds; here they are due immediately.
        await product.db('outbox').update({ resend_at: product.db.fn.now() })
        return sink.requests.slice(from).some(({ path }) => path === `/${way}`)
      })
    }
    /** Each check uses a separate connection: a passive declare of a missing queue closes the channel. */
    const comesBack = (queue: string) =>
      eventually(`${queue} to come back`, async () => {
        await using look = await openBrokerProbe(product.config.amqpUrl)
        return (await look.consumers(queue).catch(() => 0)) === 1
      })
    await change('the start')

    await probe.channel.unbindQueue('alerts.wake.alerter', EVENTS_EXCHANGE, 'alerts.wake')
    await change('a binding was deleted')
    t.true((await returned(workers.metrics)) > 0, 'the broker confirmed it, and gave it back')

    await probe.channel.deleteExchange(EVENTS_EXCHANGE)
    await change('the exchange was deleted')

    // The messages of a deleted queue are lost; later ones find a new queue with a consumer.
    await probe.channel.deleteQueue('alerts.wake.alerter')
    await comesBack('alerts.wake.alerter')
    await change('the queue was deleted')

    const ledger = new Ledger()
    const shard = check.id % 2
    await probe.channel.deleteQueue(`pings.${shard}`)
    let isOver = false
    const load = sendPings({
      base: () => base,
      checks: [check.uuid],
      connections: 4,
      ledger,
      ...STEADILY,
      more: () => !isOver && ledger.entries.size < 90_000,
    })
    await eventually('pings to be accepted again', () => ledger.count('accepted') > 50)
    isOver = true
    await load
    t.deepEqual(
      (await auditPings(product, ledger)).filter((line) => !line.includes('was never sent')),
      [],
    )
    await comesBack(`pings.${shard}`)
    t.is(sink.requests.length, changes, 'each change was notified once')
  },
)

test.serial('a queue with other arguments does not affect other queues', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '2', ...LONG_LOG } })
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  await probe.channel.assertQueue('notification.due.notifier', { durable: true })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  await product.workers(['ping-evaluator', 'notifier'])
  const check = await addCheck(deps, project.id)
  t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200)
  await eventually(
    'the ping to be counted',
    async () => Number((await product.db('checks').first('n_pings'))?.n_pings) === 1,
  )
})
