import test from 'ava'
import { metricIn } from '../../faults/fault-metrics.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'

test('only counters are named as such, and every pool and sweep shows how it is', async (t) => {
  await using product = await openProduct()
  const { metrics, db } = await product.workers(['sweeper'])
  const kinds = [...(await metrics.registry.metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  t.true(kinds.length > 30)
  const misnamed = kinds.filter(([, name, kind]) => name?.endsWith('_total') !== (kind === 'counter'))
  t.deepEqual(
    misnamed.map(([line]) => line),
    [],
  )

  const connections = await Promise.all(Array.from({ length: 3 }, () => db.client.acquireConnection()))
  const lent = await metrics.registry.metrics()
  await Promise.all(connections.map((connection) => db.client.releaseConnection(connection)))
  // The sweeps use some of them too.
  t.true(metricIn(lent, 'signalbox_pool_connections_in_use{pool="main"}') >= connections.length)
  for (const pool of ['main', 'reserve'])
    await eventually(`no request to wait for a connection of ${pool}`, async () =>
      (await metrics.registry.metrics()).includes(`signalbox_pool_waiting{pool="${pool}"} 0`),
    )

  await eventually('each sweep to have its own age', async () => {
    const { values } = await metrics.sweepLag.get()
    const ages = new Map(values.map(({ labels, value }) => [labels.sweep, value]))
    // One sweep in five minutes does not hide behind those of every second.
    return ages.size >= 6 && (ages.get('overdue-checks') ?? 9) < 1.5 && (ages.get('retention') ?? 0) > 2
  })
})
