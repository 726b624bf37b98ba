import test from 'ava'
import { toIsoSeconds } from '#shared/time.ts'
import { addWebhook, tell } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'

interface Simulated {
  flips: { timestamp: string; up: number }[]
  messages: { at: string; channel: string; what: string; text: string }[]
  decisions: { reason: string }[]
  truncated: boolean
}

test("what was recorded, simulated with the policy in force, gives the messages that were sent; a draft gives the draft's", async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({
    listener: 'http',
    workers: ['ping-evaluator', 'alerter', 'notifier', 'sweeper'],
  })
  const { db, deps, url } = product
  const { project, rwKey } = await addProject(deps)
  const other = await addProject(deps)
  const check = await addCheck(deps, project.id, { name: 'job', tags: 'prod' })
  const channel = await addWebhook(deps, project.id, sink.url)
  await tell(db, [check], [channel])
  const post = (path: string, body: object, key = rwKey) =>
    send(url, path, { method: 'POST', headers: { 'X-Api-Key': key }, body: JSON.stringify(body) })
  await post('/api/v3/policies/', { name: 'p', match: 'prod', steps: [{}], when: { failures: 2 } })
  for (const end of ['', '/fail', '/fail']) await fetch(`${url}/ping/${check.uuid}${end}`)
  await sink.waitFor(1)
  await fetch(`${url}/ping/${check.uuid}`)
  await sink.waitFor(2)
  await eventually(
    'the incident to be over',
    async () => (await db('incidents').whereNotNull('resolved_at')).length === 1,
  )

  const answer = await post('/api/v3/simulations/', { check: check.uuid, recorded: 'pings' })
  t.is(answer.status, 200, answer.text)
  const simulated = jsonOf(answer) as unknown as Simulated
  const sent = await db('notifications').orderBy('created_at')
  t.deepEqual(
    simulated.messages.map(({ what, channel: to }) => [what, to]),
    sent.map(({ what }) => [what, channel.uuid]),
  )
  t.deepEqual(
    simulated.messages.map(({ text }) => text),
    ['DOWN | job', 'UP | job'],
  )
  t.deepEqual(
    simulated.flips.map(({ up }) => up),
    [1, 0, 1],
  )
  const before = await db('notifications').count()

  const start = Math.floor(Date.now() / 1000) * 1_000_000 - 7_200_000_000
  const at = (minutes: number) => toIsoSeconds(start + minutes * 60_000_000)
  const thought = {
    check: check.uuid,
    policy: { steps: [{ wait: 0, repeat: { every: 600 } }] },
    windows: [{ match: '*', starts: at(25), ends: at(35) }],
    events: [
      { at: at(0), kind: 'success' },
      { at: at(10), kind: 'fail' },
      { at: at(52), kind: 'success' },
    ],
    from: at(0),
    until: at(60),
  }
  const drafted = jsonOf(await post('/api/v3/simulations/', thought)) as unknown as Simulated
  t.deepEqual(
    drafted.messages.map(({ at: when, text }) => [when, text]),
    [
      [at(10), 'DOWN | job'],
      [at(20), 'STILL DOWN (2) | job'],
      [at(40), 'STILL DOWN (3) | job'],
      [at(50), 'STILL DOWN (4) | job'],
      [at(52), 'UP | job'],
    ],
    'the plan stands still in the window',
  )
  t.false(drafted.truncated)
  t.deepEqual(await db('notifications').count(), before, 'nothing is sent')

  t.is((await post('/api/v3/simulations/', { check: check.uuid }, other.rwKey)).status, 404)
  const wrong = await post('/api/v3/simulations/', { check: check.uuid, events: [{ at: 'soon', kind: 'fail' }] })
  t.is(wrong.status, 400)
  t.regex(wrong.text, /json validation error: events\[0\]\.at has unexpected value/)
  const statuses: number[] = []
  for (let n = 0; n < 7; n++) statuses.push((await post('/api/v3/simulations/', thought)).status)
  t.is(statuses.at(-1), 429)
})
