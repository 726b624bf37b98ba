import test from 'ava'
import { queueOf } from '#shared/contracts/define-message.ts'
import { notificationDue } from '#shared/contracts/worker-messages.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'

// `:3` skips two transactions, so that the process is killed during its work.
const evaluatorPoints = ['after-receive:3', 'before-commit:3', 'after-commit:3', 'before-ack:3']

test.serial('every ping is counted once if an evaluator is killed at any point', async (t) => {
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

test.serial('a killed notifier repeats an unrecorded message with the same id, and no recorded one', async (t) => {
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

  // Only acknowledgements of this queue count, because the alerter in the same process acknowledges others.
  const queue = queueOf(notificationDue, 'notifier')
  // The lease has expired, so another process may send. No sweeper runs, because a second copy of the message could be
  // acknowledged before the notification is sent.
  await product.db('notifications').update({ lease_until: product.db.fn.now() })
  const beforeAck = product.spawn('workers', ['notifier'], { CRASH_AT: `before-ack-of-${queue}` })
  await sink.waitFor(2)
  t.is(await beforeAck.exited, null)
  const ids = sink.requests.map(({ headers }) => headers['x-signalbox-notification'])
  t.deepEqual(ids, [claimed?.id, claimed?.id], 'the receiver can detect the duplicate')

  // Recorded, but not acknowledged: the message is redelivered, and nothing is sent.
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
})
