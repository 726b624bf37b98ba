import test from 'ava'
import { dueDeliveries } from '../../../workers/sweeper/sweeps/due-messages.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openPipeline, type Pipeline } from './webhook-pipeline.ts'
import {
  addEndpoint,
  attemptLines,
  attemptsOf,
  deliveriesOf,
  emit,
  movableClock,
  requestLines,
} from './webhook-support.ts'

let product: Pipeline
test.before(async () => {
  product = await openPipeline()
})
test.after.always(() => product[Symbol.asyncDispose]())

async function openDeliverer(override = {}) {
  return await product.workers(['webhook-deliverer'], override)
}

async function ended(endpointId: string) {
  return await eventually(`deliveries of ${endpointId} to end`, async () => {
    const rows = await deliveriesOf(product.db, endpointId)
    return rows.length > 0 && rows.every(({ state }) => state !== 'PENDING') ? rows : undefined
  })
}

test.serial('an event is delivered signed, with the canonical body, and logged', async (t) => {
  await using deps = await openDeliverer()
  await using sink = await openHttpSink()
  const endpoint = await addEndpoint(product, `${sink.url}/hook`)
  const event = await emit(deps.outbox, endpoint)
  const request = await sink.waitFor(1)
  t.is(request.body.toString(), event.body)
  t.is(request.headers['webhook-id'], event.id)
  t.is(request.headers['content-type'], 'application/json')
  t.regex(String(request.headers['x-signature']), /^[0-9a-f]{64}$/)
  const [delivery] = await ended(endpoint.id)
  t.is(delivery?.state, 'DELIVERED')
  const attempts = await attemptsOf(product.db, endpoint.id)
  t.deepEqual(
    attempts.map(({ n, outcome, status_code }) => ({ n, outcome, status_code })),
    [{ n: 1, outcome: 'delivered', status_code: 200 }],
  )
})

test.serial('only subscribed endpoints of the same organisation and environment get an event', async (t) => {
  await using deps = await openDeliverer()
  await using sink = await openHttpSink()
  const wanted = await addEndpoint(product, `${sink.url}/packs`, { eventTypes: ['risk_signals.*'] })
  const { organisationId } = wanted
  await addEndpoint(product, `${sink.url}/anchors`, { organisationId, eventTypes: ['anchor.included'] })
  await addEndpoint(product, `${sink.url}/sandbox`, { organisationId, env: 'SANDBOX' })
  await addEndpoint(product, `${sink.url}/stranger`)
  await emit(deps.outbox, wanted)
  await ended(wanted.id)
  t.deepEqual(
    sink.requests.map(({ path }) => path),
    ['/packs'],
  )
})

test.serial('a delivery is EXHAUSTED after the whole schedule, logged and notified', async (t) => {
  const clock = movableClock()
  await using deps = await openDeliverer({ now: clock.now })
  await using sink = await openHttpSink()
  await using other = await openHttpSink()
  sink.respond = () => ({ status: 500, body: 'out of order' })
  const endpoint = await addEndpoint(product, sink.url, { eventTypes: ['risk_signals.*'] })
  const observer = await addEndpoint(product, other.url, {
    organisationId: endpoint.organisationId,
    eventTypes: ['webhook.*'],
  })
  const event = await emit(deps.outbox, endpoint)
  const schedule = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
  let waits = 0
  for (let n = 1; n <= 10; n++) {
    const delivery = await eventually(`attempt ${n}`, async () => {
      const [row] = await deliveriesOf(product.db, endpoint.id)
      return row && row.attempts === n && row.lease_until === null ? row : undefined
    })
    if (delivery.state !== 'PENDING') break
    const next = delivery.next_attempt_at.getTime() / 1000
    const waitSeconds = next - clock.now() / 1_000_000
    const began = ((await attemptsOf(product.db, endpoint.id)).at(-1)?.started_at.getTime() ?? Number.NaN) / 1000
    const due = schedule[waits++] ?? 0
    // The delay counts from the end of the attempt, which is between its beginning and now.
    t.true(next - began >= 0.8 * due - 0.1 && waitSeconds <= 1.2 * due + 0.1, `wait ${waits}: ${next - began}`)
    clock.advance(waitSeconds + 1)
    await eventually(`attempt ${n + 1} to start`, async () => {
      const [row] = await deliveriesOf(product.db, endpoint.id)
      if (sink.requests.length > n) return true
      // An open breaker delays the attempt until `next_attempt_at`. The clock must not move during an attempt.
      const pausedSeconds = (row?.next_attempt_at.getTime() ?? 0) / 1000 - clock.now() / 1_000_000
      if (row?.lease_until === null && pausedSeconds > 0) clock.advance(pausedSeconds + 1)
      await dueDeliveries.run({ deps, now: clock.now(), barriers: { answering: async () => new Set<number>() } })
      return sink.requests.length > n
    })
  }
  t.is(waits, 9)
  const [delivery] = await ended(endpoint.id)
  t.is(delivery?.state, 'EXHAUSTED')
  const attempts = await attemptsOf(product.db, endpoint.id)
  t.deepEqual(
    attempts.map(({ n }) => n),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  )
  t.deepEqual(requestLines(sink.requests), attemptLines(attempts))
  t.is(new Set(sink.requests.map(({ body }) => body.toString())).size, 1, 'the same body every time')
  t.is(new Set(sink.requests.map(({ headers }) => headers['webhook-id'])).size, 1)
  t.is(new Set(sink.requests.map(({ headers }) => headers['webhook-signature'])).size, 10, 'a fresh signature')
  t.is(sink.requests[0]?.body.toString(), event.body)
  const notified = await other.waitFor(1)
  const payload = JSON.parse(notified.body.toString())
  t.is(payload.event, 'webhook.delivery_exhausted')
  t.is(payload.dealId, delivery?.id)
  t.deepEqual(payload.fields, ['deliveryId', 'endpointId', 'eventId'])
  await ended(observer.id)
})

test.serial('a 410 response disables the endpoint, notifies others, and keeps events', async (t) => {
  await using deps = await openDeliverer()
  await using sink = await openHttpSink()
  await using other = await openHttpSink()
  sink.respond = () => ({ status: 410 })
  const endpoint = await addEndpoint(product, sink.url, { eventTypes: ['risk_signals.*'] })
  const { organisationId } = endpoint
  await addEndpoint(product, other.url, { organisationId, eventTypes: ['webhook.endpoint_disabled'] })
  await emit(deps.outbox, endpoint)
  const [first] = await ended(endpoint.id)
  t.is(first?.state, 'FAILED')
  await emit(deps.outbox, endpoint)
  t.deepEqual(
    (await ended(endpoint.id)).map(({ state }) => state),
    ['FAILED', 'SUPPRESSED'],
  )
  const notified = await other.waitFor(1)
  t.is(JSON.parse(notified.body.toString()).dealId, endpoint.id)
  const row = await product.db('webhook_endpoints').first(['state', 'state_reason']).where({ id: endpoint.id })
  t.deepEqual({ ...row }, { state: 'DISABLED_FAILING', state_reason: 'GONE' })
  t.is(sink.requests.length, 1)
})

test.serial('an ordered endpoint gets the events of a deal one by one', async (t) => {
  await using deps = await openDeliverer()
  await using sink = await openHttpSink()
  const release = Promise.withResolvers<void>()
  sink.respond = async ({ body }) => {
    if (JSON.parse(body.toString()).event === 'kyb.completed') await release.promise
    return { status: 200 }
  }
  const endpoint = await addEndpoint(product, sink.url, { ordered: true })
  await emit(deps.outbox, endpoint, { type: 'kyb.completed', dealId: 'A' })
  await sink.waitFor(1)
  await emit(deps.outbox, endpoint, { dealId: 'A' })
  await emit(deps.outbox, endpoint, { dealId: 'B' })
  // Deal B is not delayed. If the second event of deal A did not wait, it would have arrived before that of deal B.
  await sink.waitFor(({ body }) => JSON.parse(body.toString()).dealId === 'B')
  t.is(sink.requests.length, 2)
  release.resolve()
  await ended(endpoint.id)
  const deals = sink.requests.map(({ body }) => JSON.parse(body.toString()))
  t.deepEqual(
    deals.filter(({ dealId }) => dealId === 'A').map(({ event }) => event),
    ['kyb.completed', 'risk_signals.pack_ready'],
  )
})

test.serial('an endpoint has at most four concurrent attempts over all processes', async (t) => {
  await using deps = await openDeliverer()
  await using _second = await openDeliverer()
  await using sink = await openHttpSink()
  let underWay = 0
  let maxUnderWay = 0
  const full = Promise.withResolvers<void>()
  sink.respond = async () => {
    underWay += 1
    maxUnderWay = Math.max(maxUnderWay, underWay)
    if (underWay === 4) full.resolve()
    await full.promise
    underWay -= 1
    return { status: 200 }
  }
  const endpoint = await addEndpoint(product, sink.url)
  for (let n = 0; n < 40; n++) await emit(deps.outbox, endpoint)
  const rows = await ended(endpoint.id)
  t.is(rows.length, 40)
  t.is(maxUnderWay, 4)
  t.deepEqual(requestLines(sink.requests), attemptLines(await attemptsOf(product.db, endpoint.id)))
})

test.serial('fifty unresponsive endpoints delay no other', async (t) => {
  await using deps = await openDeliverer()
  await using sink = await openHttpSink()
  sink.respond = ({ path }) => (path.startsWith('/hang') ? { misbehave: 'hang' } : { status: 200 })
  const hanging = await Promise.all(Array.from({ length: 50 }, (_, n) => addEndpoint(product, `${sink.url}/hang/${n}`)))
  const healthy = await Promise.all(Array.from({ length: 150 }, (_, n) => addEndpoint(product, `${sink.url}/ok/${n}`)))
  for (let round = 0; round < 6; round++) await Promise.all(hanging.map((endpoint) => emit(deps.outbox, endpoint)))
  await Promise.all(hanging.map((_, n) => sink.waitFor(({ path }) => path === `/hang/${n}`)))
  for (let round = 0; round < 2; round++) await Promise.all(healthy.map((endpoint) => emit(deps.outbox, endpoint)))
  await Promise.all(healthy.map(({ id }) => ended(id)))
  const stillHanging = await product
    .db('webhook_deliveries')
    .whereIn(
      'endpoint_id',
      hanging.map(({ id }) => id),
    )
    .whereNot({ state: 'PENDING' })
  t.deepEqual(stillHanging, [], 'these still wait for their first response')
})
