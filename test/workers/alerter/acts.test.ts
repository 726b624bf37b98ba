import test from 'ava'
import { z } from 'zod'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openProduct } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'
import { notifiedOf, withChecks } from './checks-with-webhook.ts'

const WORKERS = ['ping-evaluator', 'alerter', 'notifier', 'sweeper']
const Details = z.object({ timeline: z.array(z.object({ kind: z.string(), text: z.string() })) })

test.serial('a person escalates, snoozes and takes; the end of the snooze notifies again', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { db, url } = product
  const { checks, post, ping, rwKey } = await withChecks(product, sink, ['billing'])
  const down = `down ${checks[0]?.uuid}`
  await post('/policies/', { name: 'p', match: '*', steps: [{}, { wait: 3600 }] })
  await ping(checks[0])
  await ping(checks[0], '/fail')
  await sink.waitFor(1)
  const { id } = await db('incidents').first('id')
  const act = (verb: string, body: object = {}) => post(`/incidents/${id}/${verb}`, body)

  t.is((await act('escalate')).status, 200)
  await sink.waitFor(2)
  const refused = await eventually('the escalation to be stored', async () => {
    const answer = await act('escalate')
    return answer.status === 409 && answer
  })
  t.is(refused.text, 'no further step')

  t.regex((await act('ack', { for: 299 })).text, /for must be between 300 and 604800 seconds/)
  t.is((await act('ack', { for: 300, by: 'anna' })).status, 200)
  await eventually('the snooze to apply', () => db('incidents').where({ suppression: 'ACKNOWLEDGED' }).first())
  t.is(sink.requests.length, 2)
  await db('incidents').update({ ack_until: db.raw(`now() - interval '1 second'`), next_at: db.raw('now()') })
  await sink.waitFor(3)
  t.deepEqual(notifiedOf(sink), [down, down, down])
  t.like(await db('incidents').first(), { state: 'alerting', is_snoozed: false })

  t.regex((await act('take', { person: 'unknown@example.org' })).text, /person must be the address of a member/)
  t.regex((await act('assign', { to: null, notify: 1 })).text, /notify must be true or false/)
  await ping(checks[0])
  await sink.waitFor(4)
  const details = await send(url, `/api/v3/incidents/${id}`, { headers: { 'X-Api-Key': rwKey } })
  const texts = Details.parse(jsonOf(details)).timeline.map(({ kind, text }) => `${kind}: ${text}`)
  for (const text of ['escalated: Step 2 at once', 'snoozed: Snoozed by anna', 'unacknowledged: Its snooze has ended'])
    t.true(texts.includes(text), texts.join('\n'))
})
