import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { toIsoSeconds } from '#shared/time.ts'
import { addChat, addWebhook, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { stopRefill } from '../../support/stop-refill.ts'

interface Simulated {
  flips: { timestamp: string; up: number }[]
  messages: { at: string; channel: string; what: string; text: string }[]
  decisions: { reason: string }[]
  assumed: string[]
  truncated: boolean
}

test('a simulation of recorded pings returns the sent messages, or those of a draft', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({
    listener: 'http',
    workers: ['ping-evaluator', 'alerter', 'notifier', 'sweeper'],
  })
  const { db, deps, url } = product
  const { project, rwKey } = await addProject(deps)
  const other = await addProject(deps)
  const check = await addCheck(deps, project.id, { name: 'job', tags: 'prod' })
  const integration = await addWebhook(deps, project.id, sink.url)
  await notify(db, [check], [integration])
  const post = (path: string, body: object, key = rwKey) =>
    send(url, path, { method: 'POST', headers: { 'X-Api-Key': key }, body: JSON.stringify(body) })
  await post('/api/v3/policies/', { name: 'p', match: 'prod', steps: [{}], when: { failures: 2 } })
  for (const end of ['', '/fail', '/fail']) await fetch(`${url}/ping/${check.uuid}${end}`)
  await sink.waitFor(1)
  await fetch(`${url}/ping/${check.uuid}`)
  await sink.waitFor(2)
  await eventually('the incident to end', async () => (await db('incidents').whereNotNull('resolved_at')).length === 1)

  const answer = await post('/api/v3/simulations/', { check: check.uuid, recorded: 'pings' })
  t.is(answer.status, 200, answer.text)
  const simulated = jsonOf(answer) as unknown as Simulated
  const sent = await db('notifications').orderBy('created_at')
  t.deepEqual(
    simulated.messages.map(({ what, channel: to }) => [what, to]),
    sent.map(({ what }) => [what, integration.uuid]),
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
  t.regex(drafted.assumed[0] ?? '', /^Every message counts as delivered at once/, 'the assumptions are listed')
  t.deepEqual(await db('notifications').count(), before, 'nothing is sent')

  t.is((await post('/api/v3/simulations/', { check: check.uuid }, other.rwKey)).status, 404)
  const wrong = await post('/api/v3/simulations/', { check: check.uuid, events: [{ at: 'soon', kind: 'fail' }] })
  t.is(wrong.status, 400)
  t.regex(wrong.text, /json validation error: events\[0\]\.at must be a time such as/)
  const statuses: number[] = []
  await stopRefill(db, `simulation:${project.id}`) // one comes free every ten seconds
  for (let n = 0; n < 7; n++) statuses.push((await post('/api/v3/simulations/', thought)).status)
  t.is(statuses.at(-1), 429)
})

/** Simulations of the hour that began two hours ago, and how instants of it are written. */
function simulator(t: ExecutionContext, { db, url }: HttpProduct, rwKey: string) {
  const start = Math.floor(Date.now() / 1000) * 1000 - 7_200_000
  const at = (minutes: number) => `${new Date(start + minutes * 60_000).toISOString().slice(0, 19)}+00:00`
  const simulate = async (body: object) => {
    await db.raw('DELETE FROM rate_limits')
    const answer = await send(url, '/api/v3/simulations/', {
      method: 'POST',
      headers: { 'X-Api-Key': rwKey },
      body: JSON.stringify({ from: at(0), until: at(60), ...body }),
    })
    t.is(answer.status, 200, answer.text)
    const { messages, decisions } = jsonOf(answer) as unknown as Simulated
    return { notified: messages.map(({ at: when, text }) => [when, text]), why: decisions.map(({ reason }) => reason) }
  }
  return { at, simulate }
}

test('a simulation uses recorded parents, gaps and changes, or a described check', async (t) => {
  await using product = await openProduct({ listener: 'http' })
  const { db, deps } = product
  const { project, rwKey } = await addProject(deps)
  const [router, web, db1, db2] = [
    await addCheck(deps, project.id, { name: 'router' }),
    await addCheck(deps, project.id, { name: 'web', tags: 'prod', timeoutSeconds: 600, graceSeconds: 60 }),
    await addCheck(deps, project.id, { name: 'db1', tags: 'prod' }),
    await addCheck(deps, project.id, { name: 'db2', tags: 'prod' }),
  ] as const
  await notify(db, [web], [await addChat(deps, project.id, 'http://127.0.0.1:1')])
  const { at, simulate } = simulator(t, product, rwKey)
  const policy = { steps: [{}] }
  const events = [{ at: at(0), kind: 'success' }]
  const silent = { check: web.uuid, policy, events }
  t.deepEqual((await simulate(silent)).notified, [[at(11), 'DOWN | web']])

  const flip = (checkId: number, minutes: number, to: string) =>
    db('flips').insert({
      check_id: checkId,
      at: at(minutes),
      from_status: to === 'up' ? 'down' : 'up',
      to_status: to,
      reason: '',
      processed_at: at(minutes),
    })
  await flip(router.id, 5, 'down')
  const held = await simulate({ ...silent, rules: { parents: [{ check: router.uuid }] } })
  t.deepEqual([held.notified, held.why], [[], ['PARENT_DOWN']])

  for (const { id } of [db1, db2])
    await db('incidents').insert({
      id: randomUUID(),
      check_id: id,
      project_id: project.id,
      down_at: at(10.5),
      state: 'alerting',
      is_direct: false,
      severity: 'critical',
    })
  const many = await simulate({ ...silent, policy: { ...policy, match: 'prod', group: { checks: 3, within: 60 } } })
  t.deepEqual([many.notified, many.why], [[[at(11.5), '3 checks are DOWN']], ['GROUPING', 'IN_DIGEST']])

  await flip(web.id, 20, 'down')
  await flip(web.id, 30, 'up')
  const changes = await simulate({ check: web.uuid, policy, recorded: 'flips' })
  t.deepEqual(changes.notified, [
    [at(20), 'DOWN | web'],
    [at(30), 'UP | web'],
  ])

  await db('pings').insert({
    check_id: web.id,
    n: 1,
    slot: 1,
    type: 'success',
    at: at(0),
    scheme: 'http',
    method: 'GET',
    ua: '',
  })
  await db('coverage_gaps').insert({
    listener: 'http',
    shards: -1,
    from_at: at(5),
    until_at: at(15),
    kind: 'full',
    cause: 'process lost',
  })
  const blind = await simulate({ check: web.uuid, policy, recorded: 'pings' })
  t.deepEqual([blind.notified, blind.why], [[[at(26), 'DOWN | web']], ['GAP', 'FIRST']])
})

test('a simulation accepts settings with named sources and reports invalid fields', async (t) => {
  await using product = await openProduct({ listener: 'http' })
  const { deps, url } = product
  const { project, rwKey } = await addProject(deps)
  const web = await addCheck(deps, project.id, { name: 'web' })
  await addChat(deps, project.id, 'http://127.0.0.1:1')
  const { at, simulate } = simulator(t, product, rwKey)
  const events = [{ at: at(0), kind: 'success' }]
  const policy = { steps: [{}] }
  const described = await simulate({
    settings: { name: 'draft', timeout: 600, grace: 60, channels: '*' },
    rules: { sources: { by: 'query', expect: ['a', 'b'], need: 2 } },
    policy,
    events: [
      { at: at(0), kind: 'success', source: 'a' },
      { at: at(2), kind: 'success', source: 'b' },
      { at: at(5), kind: 'success', source: 'b' },
    ],
  })
  t.deepEqual(described.notified, [[at(11), 'DOWN | draft']])
  const refusals: string[] = []
  for (const body of [
    { settings: { timeout: 1 }, events },
    { settings: {}, check: web.uuid, events },
    { settings: {} },
    { check: web.uuid, rules: { sevirity: 'info' } },
  ]) {
    const answer = await send(url, '/api/v3/simulations/', {
      method: 'POST',
      headers: { 'X-Api-Key': rwKey },
      body: JSON.stringify(body),
    })
    refusals.push(`${answer.status} ${(jsonOf(answer) as { error: string }).error}`)
  }
  t.deepEqual(refusals, [
    '400 json validation error: timeout is too small',
    '400 json validation error: settings must not be given together with check',
    '400 json validation error: events is required with settings',
    '400 json validation error: rules.sevirity is not a known member',
  ])
})
