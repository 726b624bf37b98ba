import { once } from 'node:events'
import test from 'ava'
import { microsOfSeconds } from '#shared/time.ts'
import { dueDeliveries } from '../../../workers/sweeper/sweeps/due-messages.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openPipeline } from './webhook-pipeline.ts'
import {
  type AttemptLogRow,
  addEndpoint,
  attemptLines,
  attemptsOf,
  deliveriesOf,
  emit,
  movableClock,
  requestLines,
} from './webhook-support.ts'

const noBarriers = { answering: async () => new Set<number>() }

/** Returns the attempts with certain requests; an interrupted attempt may have made none. */
function madeAttempts(attempts: readonly AttemptLogRow[]): AttemptLogRow[] {
  return attempts.filter(({ outcome }) => outcome !== 'interrupted')
}

for (const { point, isRecorded } of [
  { point: 'delivery-claimed', isRecorded: false },
  { point: 'delivery-sent', isRecorded: false },
  { point: 'delivery-recorded', isRecorded: true },
]) {
  test.serial(`a deliverer killed at ${point} loses no delivery`, async (t) => {
    await using pipeline = await openPipeline()
    await using sink = await openHttpSink()
    const endpoint = await addEndpoint(pipeline, sink.url)
    // Publishes due deliveries and delivers nothing.
    const clock = movableClock()
    const publisher = await pipeline.workers([], { now: clock.now })
    const doomed = pipeline.spawn(['webhook-deliverer'], { CRASH_AT: `${point}:3` })
    const died = once(doomed, 'exit')
    for (let n = 0; n < 6; n++) await emit(publisher.outbox, endpoint)
    const [, signal] = await died
    t.is(signal, 'SIGKILL', 'the point was reached')
    await using deps = await pipeline.workers(['webhook-deliverer'], { now: clock.now })
    const rows = await eventually('every delivery to end', async () => {
      const all = await deliveriesOf(pipeline.db, endpoint.id)
      if (all.every(({ state }) => state === 'DELIVERED')) return all
      // Deliveries in flight in the dead process are due again after their lease.
      clock.advance(61)
      await dueDeliveries.run({ deps, now: clock.now(), barriers: noBarriers })
      return undefined
    })
    t.is(rows.length, 6)
    const attempts = await attemptsOf(pipeline.db, endpoint.id)
    t.is(new Set(sink.requests.map(({ headers }) => headers['webhook-id'])).size, 6)
    // Every request is an attempt; only an interrupted attempt may have no request.
    t.true(sink.requests.length >= madeAttempts(attempts).length)
    t.true(sink.requests.length <= attempts.length)
    if (!isRecorded) t.true(attempts.length > madeAttempts(attempts).length, 'the interrupted attempt is logged')
    for (const line of attemptLines(madeAttempts(attempts))) t.true(requestLines(sink.requests).includes(line), line)
    for (const row of rows) {
      const copies = sink.requests.filter(({ headers }) => headers['webhook-id'] === row.event_id)
      t.is(new Set(copies.map(({ body }) => body.toString())).size, 1, 'the same body every time')
    }
  })
}

test.serial('a frozen deliverer that lost its lease has no effect', async (t) => {
  await using pipeline = await openPipeline()
  await using sink = await openHttpSink()
  const endpoint = await addEndpoint(pipeline, sink.url)
  const blocked = Promise.withResolvers<void>()
  let first = true
  sink.respond = async () => {
    if (!first) return { status: 200 }
    first = false
    await blocked.promise
    return { status: 500 }
  }
  const clock = movableClock()
  const publisher = await pipeline.workers([], { now: clock.now })
  const frozen = pipeline.spawn(['webhook-deliverer'])
  await emit(publisher.outbox, endpoint)
  await sink.waitFor(1)
  frozen.kill('SIGSTOP')
  await using deps = await pipeline.workers(['webhook-deliverer'], { now: clock.now })
  clock.advance(61)
  await eventually('another to deliver it', async () => {
    await dueDeliveries.run({ deps, now: clock.now(), barriers: noBarriers })
    const [row] = await deliveriesOf(pipeline.db, endpoint.id)
    // The broker sends every other message to the frozen process until it misses its heartbeats.
    if (row?.attempts === 1) clock.advance(16)
    return row?.state === 'DELIVERED'
  })
  blocked.resolve()
  frozen.kill('SIGCONT')
  const late = await eventually('the thawed process to log its attempt', async () => {
    const [attempt] = await attemptsOf(pipeline.db, endpoint.id)
    return attempt?.outcome === 'failed' ? attempt : undefined
  })
  t.is(late.n, 1)
  const [row] = await deliveriesOf(pipeline.db, endpoint.id)
  t.is(row?.state, 'DELIVERED', 'the late failure changes nothing')
  t.is(row?.attempts, 2)
  t.is(sink.requests.length, 2)
})

test.serial('two deliverers and three sweepers make one attempt per delivery', async (t) => {
  await using pipeline = await openPipeline()
  await using sink = await openHttpSink()
  const endpoints = await Promise.all(Array.from({ length: 20 }, (_, n) => addEndpoint(pipeline, `${sink.url}/${n}`)))
  await using deps = await pipeline.workers(['webhook-deliverer'])
  await using _other = await pipeline.workers(['webhook-deliverer'])
  for (let n = 0; n < 5; n++) await Promise.all(endpoints.map((endpoint) => emit(deps.outbox, endpoint)))
  const later = Date.now() * 1000 + microsOfSeconds(20)
  await eventually('all to be delivered', async () => {
    // Publishes further messages for queued deliveries; copies must have no effect.
    await Promise.all([1, 2, 3].map(() => dueDeliveries.run({ deps, now: later, barriers: noBarriers })))
    const [row] = await pipeline.db('webhook_deliveries').count('* as open').where({ state: 'PENDING' })
    return Number(row?.open) === 0
  })
  t.is(sink.requests.length, 100)
  const attempts = (await Promise.all(endpoints.map(({ id }) => attemptsOf(pipeline.db, id)))).flat()
  t.deepEqual(requestLines(sink.requests), attemptLines(attempts))
})

test.serial('every fault of a receiver is one classified failed attempt', async (t) => {
  await using pipeline = await openPipeline()
  await using deps = await pipeline.workers(['webhook-deliverer'])
  await using sink = await openHttpSink()
  const cases = [
    { path: '/reset', answer: { misbehave: 'reset' }, failure: 'reset', status: null },
    { path: '/midway', answer: { misbehave: 'reset-midway' }, failure: 'reset', status: null },
    { path: '/garbage', answer: { misbehave: 'garbage' }, failure: 'protocol', status: null },
    { path: '/inform', answer: { misbehave: 'inform' }, failure: 'protocol', status: null },
    { path: '/redirect', answer: { status: 302, headers: { location: '/elsewhere' } }, failure: 'status', status: 302 },
    { path: '/busy', answer: { status: 429, headers: { 'retry-after': '3600' } }, failure: 'status', status: 429 },
  ] as const
  sink.respond = ({ path }) => cases.find((one) => one.path === path)?.answer ?? { status: 200 }
  for (const { path, failure, status } of cases) {
    const endpoint = await addEndpoint(pipeline, `${sink.url}${path}`)
    await emit(deps.outbox, endpoint)
    const [attempt] = await eventually(`the attempt at ${path}`, async () => {
      const attempts = await attemptsOf(pipeline.db, endpoint.id)
      return attempts.length > 0 ? attempts : undefined
    })
    t.deepEqual([attempt?.outcome, attempt?.failure, attempt?.status_code], ['failed', failure, status], path)
    const [row] = await deliveriesOf(pipeline.db, endpoint.id)
    t.is(row?.state, 'PENDING', path)
    if (path === '/busy') t.true((row?.next_attempt_at.getTime() ?? 0) > Date.now() + 3_500_000)
  }
  t.false(
    sink.requests.some(({ path }) => path === '/elsewhere'),
    'redirects are not followed',
  )
})

test.serial('an endless response is truncated and evaluated by its status', async (t) => {
  await using pipeline = await openPipeline()
  await using deps = await pipeline.workers(['webhook-deliverer'])
  await using sink = await openHttpSink()
  sink.respond = () => ({ status: 200, misbehave: 'huge' })
  const endpoint = await addEndpoint(pipeline, sink.url)
  await emit(deps.outbox, endpoint)
  await eventually('the attempt', async () => (await attemptsOf(pipeline.db, endpoint.id))[0])
  const row = await pipeline.db('webhook_attempts').first(['status_code', 'response'])
  t.is(row.status_code, 200)
  t.is(row.response.length, 4096)
})

test.serial('an address that became private is not connected and blocks the endpoint', async (t) => {
  await using pipeline = await openPipeline({ ALLOW_PRIVATE_TARGETS: 'false' })
  await using deps = await pipeline.workers(['webhook-deliverer'])
  await using sink = await openHttpSink()
  for (const url of [sink.url, `http://localhost:${sink.port}/`, `http://[::ffff:127.0.0.1]:${sink.port}/`]) {
    const endpoint = await addEndpoint(pipeline, url)
    await emit(deps.outbox, endpoint)
    const row = await eventually(`${url} to be blocked`, async () => {
      const one = await pipeline.db('webhook_endpoints').first(['state', 'state_reason']).where({ id: endpoint.id })
      return one.state === 'BLOCKED' ? one : undefined
    })
    t.is(row.state_reason, 'ADDRESS')
  }
  t.is(sink.requests.length, 0)
})
