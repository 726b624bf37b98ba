import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import test from 'ava'
import { microsOfSeconds, nowMicros } from '#shared/time.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'

/** Timeout and grace of the checks: their deadline is two minutes after the last ping. */
const PERIOD = { timeoutSeconds: 60, graceSeconds: 60 }
const LEAD = microsOfSeconds(2)

test.serial('a ping accepted before the deadline and applied after it leaves no false down', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct()
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const almostLate = await product.ingress({ now: () => nowMicros() - microsOfSeconds(120) + LEAD })
  const pinged = await addCheck(deps, project.id, PERIOD)
  const silent = await addCheck(deps, project.id, PERIOD)
  await notify(product.db, [pinged, silent], [await addWebhook(deps, project.id, sink.url)])
  const isOverdue = async () => {
    const { rows } = await product.db.raw(
      `SELECT count(*)::int AS count FROM checks WHERE status = 'up' AND alert_after < now() - interval '1 second'`,
    )
    return rows[0].count === 2
  }

  {
    await using _evaluator = await product.workers(['ping-evaluator'])
    for (const { uuid } of [pinged, silent]) t.is((await fetch(`${almostLate.base}/ping/${uuid}`)).status, 200)
    await eventually('both checks to be up', async () => {
      const rows = await product.db('checks').where({ status: 'up' })
      return rows.length === 2
    })
  }
  // The evaluator is stopped. This ping is in time, but waits in its queue until the deadline has passed.
  t.is((await fetch(`${base}/ping/${pinged.uuid}`)).status, 200)
  await eventually('both deadlines to pass', isOverdue)
  await using sweeper = await product.workers(['sweeper', 'notifier'])
  // The second of these sweeps begins after the first ended.
  await eventually('two sweeps without an answer of any shard', async () => {
    const { values } = await sweeper.metrics.barrierSeconds.get()
    const silent = values.find(
      ({ metricName, labels }) => metricName?.endsWith('_count') && labels.outcome === 'timeout',
    )
    return (silent?.value ?? 0) >= 2 * product.config.pingShards
  })
  t.true(await isOverdue(), 'no check went down')

  await using _evaluator = await product.workers(['ping-evaluator'])
  // A check that is really late proves that sweeps continue.
  await sink.waitFor(1)
  t.is(sink.requests[0]?.body.toString(), silent.uuid)
  t.like(await product.db('checks').where({ id: pinged.id }).first('status', 'n_pings'), { status: 'up', n_pings: 2 })
  const flips = await product.db('flips').where({ check_id: pinged.id }).select('from_status', 'to_status')
  t.deepEqual(flips, [{ from_status: 'new', to_status: 'up' }])
})

test.serial('a ping with a slow body counts from the end of its body', async (t) => {
  await using product = await openProduct()
  const project = await product.project()
  const clock = { now: nowMicros() - microsOfSeconds(60) }
  const { base, deps } = await product.ingress({ now: () => clock.now })
  await product.workers(['ping-evaluator'])
  const check = await addCheck(deps, project.id)
  const headers = { 'Content-Length': '4', Expect: '100-continue' }
  const outgoing = request(`${base}/ping/${check.uuid}`, { method: 'POST', headers })
  outgoing.flushHeaders()
  await once(outgoing, 'continue')
  // Longer than a sweep waits for pings in flight.
  clock.now += microsOfSeconds(20)
  outgoing.end('done')
  const [answer]: IncomingMessage[] = await once(outgoing, 'response')
  t.is(answer?.statusCode, 200)
  const at = await eventually('the ping to be stored', async () => {
    const row = await product.db('pings').first('at')
    return row?.at instanceof Date ? row.at : undefined
  })
  t.is(at.getTime(), Math.floor(clock.now / 1000), 'a sweep before the end of the body cannot know the ping')
})
