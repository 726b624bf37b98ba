import test from 'ava'
import { migrateLatest } from '#shared/platform/database/migrate.ts'
import { replayDeliveries } from '#shared/webhooks/delivery-store.ts'
import { closeEndpoint, enableEndpoint, rotateEndpointSecret } from '#shared/webhooks/endpoint-store.ts'
import { takeDueDeliveries } from '#shared/webhooks/fan-out-store.ts'
import { bodySignature, formatSecret, secretKeyOf } from '#shared/webhooks/signature.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { startPostgres } from '../../support/own-servers.ts'
import { openPipeline } from './webhook-pipeline.ts'
import {
  addEndpoint,
  attemptLines,
  attemptsOf,
  deliveriesOf,
  emit,
  requestLines,
  secretsOf,
} from './webhook-support.ts'

test('attempts that end during a database outage are recorded afterwards', async (t) => {
  await using server = await startPostgres()
  await migrateLatest(server.url)
  await using pipeline = await openPipeline({ DATABASE_URL: server.url, DATABASE_TIMEOUT_MS: '2000' })
  await using sink = await openHttpSink()
  const release = Promise.withResolvers<void>()
  sink.respond = async () => {
    await release.promise
    return { status: 200 }
  }
  await using deps = await pipeline.workers(['webhook-deliverer'])
  const endpoints = await Promise.all([1, 2, 3, 4, 5].map((n) => addEndpoint(pipeline, `${sink.url}/${n}`)))
  for (const endpoint of endpoints) await emit(deps.outbox, endpoint)
  await sink.waitFor(5)
  await server.kill()
  release.resolve()
  await server.start()
  for (const { id } of endpoints) {
    await eventually(
      'the attempt to be recorded',
      async () => (await deliveriesOf(pipeline.db, id).catch(() => []))[0]?.state === 'DELIVERED',
      30_000,
    )
  }
  const attempts = (await Promise.all(endpoints.map(({ id }) => attemptsOf(pipeline.db, id)))).flat()
  t.is(sink.requests.length, 5)
  t.deepEqual(attemptLines(attempts), requestLines(sink.requests))
  t.true(attempts.every(({ outcome }) => outcome === 'delivered'))
})

test('replayed events are released in order at a limited rate', async (t) => {
  await using pipeline = await openPipeline()
  const { db } = pipeline
  const endpoint = await addEndpoint(pipeline, 'http://127.0.0.1:9009/')
  await closeEndpoint(db, endpoint.id, 'DISABLED', Date.now() * 1000)
  await db.raw(
    `WITH stored AS (
       INSERT INTO events (id, organisation_id, env, type, deal_id, body, occurred_at)
       SELECT gen_random_uuid(), ?, 'PRODUCTION', 'risk_signals.pack_ready', 'deal', '{}',
              now() - interval '1 day' + n * interval '1 second'
       FROM generate_series(1, 50000) n RETURNING id, occurred_at)
     INSERT INTO webhook_deliveries (id, endpoint_id, event_id, state, next_attempt_at, created_at)
     SELECT gen_random_uuid(), ?, id, 'SUPPRESSED', now(), now() FROM stored ORDER BY occurred_at`,
    [endpoint.organisationId, endpoint.id],
  )
  await db.raw('ANALYZE webhook_deliveries')
  await enableEndpoint(db, endpoint.id)
  const woken: unknown[] = []
  const replay = { endpointId: endpoint.id, from: null, to: null, states: ['SUPPRESSED'] as const }
  const released: number[] = []
  for (;;) {
    const count = await db.transaction((tx) =>
      replayDeliveries(tx, async (_message, payload) => void woken.push(payload), {
        ...replay,
        perSecond: 50,
        limit: 5_000,
      }),
    )
    released.push(count)
    if (count < 5_000) break
  }
  t.deepEqual(released, [...Array.from({ length: 10 }, () => 5_000), 0])
  t.is(woken.length, 40, 'one message per slot')
  const { rows } = await db.raw<{ rows: { most: number; disorder: number }[] }>(
    `SELECT (SELECT max(n)::int FROM (SELECT count(*) AS n FROM webhook_deliveries
              GROUP BY date_trunc('second', next_attempt_at)) per_second) AS most,
            (SELECT count(*)::int FROM (SELECT next_attempt_at, lag(next_attempt_at) OVER (ORDER BY seq) AS before
              FROM webhook_deliveries) o
              WHERE next_attempt_at < before) AS disorder`,
  )
  t.is(rows[0]?.most, 50, 'at most 50 a second, over all requests')
  t.is(rows[0]?.disorder, 0)
  // The next sweep takes the first few of this endpoint and continues with the others.
  const other = await addEndpoint(pipeline, 'http://127.0.0.1:9009/other')
  await using deps = await pipeline.workers([])
  await emit(deps.outbox, other)
  const taken = await takeDueDeliveries(db, new Date(Date.now() + 3_600_000), 4, 1000)
  t.is(taken.filter((id) => id === endpoint.id).length, 4)
  t.is(taken.filter((id) => id === other.id).length, 1)
})

test('after a rotation the same event has both signatures', async (t) => {
  await using pipeline = await openPipeline()
  await using sink = await openHttpSink()
  sink.enqueue({ status: 500 })
  const endpoint = await addEndpoint(pipeline, sink.url)
  await using deps = await pipeline.workers(['webhook-deliverer'])
  const event = await emit(deps.outbox, endpoint)
  await eventually('the first attempt', async () => (await attemptsOf(pipeline.db, endpoint.id)).length === 1)
  const next = formatSecret(Buffer.alloc(32, 9))
  await rotateEndpointSecret(pipeline.db, endpoint.id, secretsOf(pipeline).seal('webhook-secret', next), 3600)
  await deps.outbox.run(async (tx, enqueue) => {
    await tx('webhook_deliveries').where({ endpoint_id: endpoint.id }).update({ state: 'FAILED' })
    const range = { endpointId: endpoint.id, from: null, to: null, states: ['FAILED'] as const }
    await replayDeliveries(tx, enqueue, { ...range, perSecond: 50, limit: 1 })
  })
  const second = await sink.waitFor(({ headers }) => headers['x-signature-previous'] !== undefined)
  t.is(second.headers['webhook-id'], event.id)
  t.is(second.body.toString(), event.body)
  t.is(second.headers['x-signature'], bodySignature(secretKeyOf(next), event.body))
  t.is(second.headers['x-signature-previous'], bodySignature(secretKeyOf(endpoint.secret), event.body))
  t.is(String(second.headers['webhook-signature']).split(' ').length, 2)
})
