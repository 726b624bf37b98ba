import test from 'ava'
import { addWebhook, notify } from '../../support/alerts.ts'
import { openBrokerProbe } from '../../support/broker-probe.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'

test('an integration that cannot be decrypted does not block the others', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct()
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  const broken = await addWebhook(deps, project.id, `${sink.url}/broken`)
  const sound = await addWebhook(deps, project.id, `${sink.url}/sound`)
  await notify(product.db, [check], [broken, sound])
  await product.db('integrations').where({ id: broken.id }).update({ sealed_config: 'sealed under an unknown key' })
  await product.workers(['ping-evaluator', 'notifier', 'sweeper'])
  t.is((await fetch(`${base}/ping/${check.uuid}/fail`)).status, 200)
  t.is((await sink.waitFor(1)).path, '/sound/down')
  const attempt = await eventually('the attempt of the broken one', () =>
    product.db('notifications').where({ integration_id: broken.id }).where('attempts', '>', 0).first(),
  )
  t.is(attempt.flip_id !== null, true)
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  t.is(await probe.depth('alerts.wake.alerter.dead'), 0)
})

test('processes a flip whose message was lost', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct()
  const project = await product.project()
  const { deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  await notify(product.db, [check], [await addWebhook(deps, project.id, sink.url)])
  await product.db.raw(
    `INSERT INTO flips (check_id, at, from_status, to_status, reason)
     VALUES (?, now() - interval '2 minutes', 'up', 'down', 'timeout'), (?, now() - interval '2 days', 'up', 'down', 'timeout')`,
    [check.id, check.id],
  )
  await product.workers(['notifier', 'sweeper'])
  t.is((await sink.waitFor(1)).path, '/down')
  await eventually('the flip to be processed', async () => {
    const open = await product.db('flips').whereNull('processed_at').select('id')
    return open.length === 1
  })
  t.is(sink.requests.length, 1)
})
