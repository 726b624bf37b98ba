import test from 'ava'
import { queueOf } from '#shared/contracts/define-message.ts'
import { notificationDue } from '#shared/contracts/worker-messages.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'

// `:3` lets two transactions pass, so that the process dies in the middle of its work.
const evaluatorPoints = ['after-receive:3', 'before-commit:3', 'after-commit:3', 'before-ack:3']

test.serial('F01: an evaluator that dies at any point of its work leaves every ping counted once', async (t) => {
  await using product = await openProduct({ env: LONG_LOG })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 5 }, () => addCheck(deps, project.id)))
  const ledger = new Ledger()
  for (const point of evaluatorPoints) {
    const dying = product.spawn('workers', ['ping-evaluator'], { CRASH_AT: point })
    await eventually('the evaluator to be ready', () => dying.output().includes('process.ready'))
    let isOver = false
    const died = dying.exited.then(() => (isOver = true))
    let left = 50
    await sendPings({
      base: () => base,
      checks: checks.map(({ uuid }) => uuid),
      connections: 8,
      ledger,
      ...STEADILY,
      // Continues until the process died, and then with some more pings.
      more: () => !isOver || left-- > 0,
    })
    await died
    t.is(await dying.exited, null, `${point}: it was killed, not stopped`)
    await using successor = await product.workers(['ping-evaluator'])
    t.deepEqual(await auditPings(product, ledger), [], point)
    t.is(ledger.count('accepted'), ledger.entries.size)
    const redelivered = (await successor.metrics.redelivered.get()).values.reduce((sum, { value }) => sum + value, 0)
    t.true(redelivered > 0, `${point}: the messages in flight were redelivered`)
  }
})

test.serial(
  'a notifier that dies between sending and recording sends again under the same id, and once recorded never',
  async (t) => {
    await using sink = await openHttpSink()
    await using product = await openProduct()
    const project = await product.project()
    const { base, deps } = await product.ingress()
    const check = await addCheck(deps, project.id)
    await notify(product.db, [check], [await addWebhook(deps, project.id, sink.url)])
    await product.workers(['ping-evaluator'])

    const afterSend = product.spawn('workers', ['notifier'], { CRASH_AT: 'after-send' })
    await fetch(`${base}/ping/${check.uuid}/fail`)
    await sink.waitFor(1)
    t.is(await afterSend.exited, null)
    const [claimed] = await product.db('notifications').select('id', 'state', 'attempts')
    t.like(claimed, { state: 'pending', attempts: 1 })

    // Of this queue: the alerter in the same process acknowledges messages too, and how many is left to chance.
    const queue = queueOf(notificationDue, 'notifier')
    // Its lease is what keeps others from sending meanwhile; here it has run out. No sweeper queues a second copy, whose
    // acknowledgement could come before the sending.
    await product.db('notifications').update({ lease_until: product.db.fn.now() })
    const beforeAck = product.spawn('workers', ['notifier'], { CRASH_AT: `before-ack-of-${queue}` })
    await sink.waitFor(2)
    t.is(await beforeAck.exited, null)
    const ids = sink.requests.map(({ headers }) => headers['x-signalbox-notification'])
    t.deepEqual(ids, [claimed?.id, claimed?.id], 'a receiver can recognise the duplicate')

    // Recorded, but not acknowledged: the message comes again, and nothing is sent.
    await eventually('the attempt to be recorded', async () => {
      const [row] = await product.db('notifications').select('state')
      return row?.state === 'delivered'
    })
    await product.workers(['notifier'])
    await fetch(`${base}/ping/${check.uuid}`)
    await sink.waitFor(({ path }) => path === '/up')
    t.deepEqual(
      sink.requests.map(({ path }) => path),
      ['/down', '/down', '/up'],
    )
  },
)
