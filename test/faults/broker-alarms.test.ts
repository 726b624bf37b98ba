import test from 'ava'
import { recordFlips } from '#shared/monitoring/flips/store.ts'
import { preparedTransaction } from '#shared/platform/database/prepared.ts'
import { nowMicros } from '#shared/time.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'
import { dropSharedRabbit, sharedRabbit } from './shared-rabbit.ts'

const HUGE = 100_000_000_000_000

test.after.always(dropSharedRabbit)

test.serial('pings are refused while the broker lacks memory or disk, or its queues are full', async (t) => {
  await using sink = await openHttpSink()
  const broker = await sharedRabbit()
  await using vhost = await broker.vhost()
  await using product = await openProduct({ env: { AMQP_URL: vhost.url, PUBLISH_TIMEOUT_MS: '1000', ...LONG_LOG } })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 8 }, () => addCheck(deps, project.id)))
  const evaluator = await product.workers(['ping-evaluator'])
  const ledger = new Ledger()
  let isOver = false
  const load = sendPings({
    base: () => base,
    checks: checks.map(({ uuid }) => uuid),
    connections: 8,
    ledger,
    ...STEADILY,
    more: () => !isOver && ledger.entries.size < 90_000,
  })
  const accepted = () => ledger.count('accepted')
  const refusals = () => ledger.answers.get('503') ?? 0
  const more = (count: () => number, what: string) => {
    const before = count()
    return eventually(what, () => count() > before + 20)
  }
  const isBlocked = async () => (await deps.metrics.brokerBlocked.get()).values[0]?.value === 1

  await more(accepted, 'pings to be accepted')
  const alarms = [
    { raise: () => broker.setMemoryWatermark(0), end: () => broker.setMemoryWatermark(0.4) },
    { raise: () => broker.setDiskLimit(HUGE), end: () => broker.setDiskLimit(20_000_000) },
  ]
  for (const { raise, end } of alarms) {
    await raise()
    await eventually('the broker to report that it is blocked', isBlocked)
    const promised = accepted()
    const { publisherEpoch } = deps.broker
    await more(refusals, 'pings to be refused')
    const readyz = await fetch(`${base}/readyz`)
    t.is(readyz.status, 503)
    t.is(await readyz.text(), '{"ready":false}')
    t.true(accepted() <= promised + 8, 'no ping is accepted while it is blocked')
    t.is(deps.broker.publisherEpoch, publisherEpoch, 'the channel stays open and continues')
    await end()
    await eventually('the broker to be free', async () => !(await isBlocked()))
    await more(accepted, 'pings to be accepted again')
  }

  // A full queue refuses immediately; messages for other queues continue.
  await evaluator[Symbol.asyncDispose]()
  const policy = `<<"${vhost.name}">>, <<"small">>`
  const rule = `<<"^pings[.][0-9]+$">>, <<"{\\"max-length\\":20}">>, 0, <<"queues">>, <<"guest">>`
  await broker.evaluate(`ok = rabbit_policy:parse_set(${policy}, ${rule})`)
  await more(refusals, 'pings to be refused by a full queue')
  const [first] = checks
  if (!first) throw new Error('there are checks')
  await notify(product.db, [first], [await addWebhook(deps, project.id, sink.url)])
  // The sweeper publishes again if a broker did not confirm in time, as in production.
  await product.workers(['notifier', 'sweeper'])
  const flip = {
    checkId: first.id,
    at: nowMicros(),
    from: 'up',
    to: 'down',
    reason: 'fail',
    processed: false,
  } as const
  deps.outbox.publishLater(await preparedTransaction(product.db, (run) => recordFlips(run, [flip])))
  await sink.waitFor(1)
  await broker.evaluate(`ok = rabbit_policy:delete(${policy}, <<"guest">>)`)
  await product.workers(['ping-evaluator'])
  await more(accepted, 'pings to be accepted once there is room')
  isOver = true
  await load

  t.deepEqual(await auditPings(product, ledger), [])
  t.is(ledger.count('refused'), 0, `answers: ${JSON.stringify([...ledger.answers])}`)
})
