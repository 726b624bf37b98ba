import test from 'ava'
import { ANSWER_DAYS, DELIVERY_DAYS, pruneAnswers, pruneDeliveries } from '#shared/webhooks/retention-store.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openPipeline } from './webhook-pipeline.ts'
import { addEndpoint, attemptsOf, deliveriesOf, emit } from './webhook-support.ts'

const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000)

test('responses are deleted first, then ended deliveries', async (t) => {
  await using pipeline = await openPipeline()
  const { db } = pipeline
  await using sink = await openHttpSink()
  const endpoint = await addEndpoint(pipeline, sink.url)
  sink.enqueue({ status: 200, body: 'thanks' }, { status: 500, body: 'later' })
  await using deps = await pipeline.workers(['webhook-deliverer'])
  await emit(deps.outbox, endpoint)
  await eventually('the first', async () => (await deliveriesOf(db, endpoint.id))[0]?.state === 'DELIVERED')
  await emit(deps.outbox, endpoint)
  await eventually('the second attempt', async () => (await attemptsOf(db, endpoint.id)).length === 2)
  const answers = async () => Number((await db('webhook_attempts').whereNotNull('response').count('* as n').first())?.n)
  t.is(await pruneAnswers(db, daysFromNow(ANSWER_DAYS - 1), 10), 0)
  t.is(await answers(), 2)
  t.is(await pruneAnswers(db, daysFromNow(ANSWER_DAYS + 1), 10), 2)
  t.is(await answers(), 0)
  t.is((await attemptsOf(db, endpoint.id)).length, 2)
  t.is(await pruneDeliveries(db, daysFromNow(DELIVERY_DAYS - 1), 10), 0)
  t.is(await pruneDeliveries(db, daysFromNow(DELIVERY_DAYS + 1), 10), 1)
  t.deepEqual(
    (await deliveriesOf(db, endpoint.id)).map(({ state }) => state),
    ['PENDING'],
  )
})
