import test from 'ava'
import { CACHE_EXCHANGE, queueDeclarations } from '#shared/contracts/topology.ts'
import { queueNames } from '../../../stack/broker-admin.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'
import { brokerServer } from '../../support/services.ts'
import { withMailProject } from './mail-product.ts'

test('the mail listener opens one queue for change events, and none for replies', async (t) => {
  await using mail = await withMailProject(await openProduct({ listener: 'mail' }))
  const { control } = await brokerServer()
  const amqpUrl = mail.env.AMQP_URL ?? ''
  // The virtual host may have been that of a product with more ping queues.
  const declared = new Set(queueDeclarations(mail.deps.config.pingShards + 1).map(({ name }) => name))
  const own = await eventually('the listener to declare its queue', async () => {
    const names = await queueNames(control, amqpUrl, decodeURIComponent(new URL(amqpUrl).pathname.slice(1)))
    const others = names.filter((name) => !declared.has(name))
    // An answer queue of the host's former product goes with its connection.
    return others.length === 1 && others
  })
  t.deepEqual(
    own.map((name) => name.replace(/\.[^.]*$/, '')),
    [CACHE_EXCHANGE],
  )
})
