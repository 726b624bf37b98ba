import test from 'ava'
import { alertsReevaluate, notificationDue } from '#shared/contracts/worker-messages.ts'
import { recentResultsOf } from '#shared/monitoring/alerting/fact-store.ts'
import { findIntegration } from '#shared/monitoring/integrations/store.ts'
import { insertNotifications } from '#shared/monitoring/notifications/store.ts'
import { query } from '#shared/platform/database/sql.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'
import { aProject } from './project.ts'

let app: HttpProduct
test.before(async () => {
  app = await openProduct({ listener: 'http', workers: ['ping-evaluator', 'notifier'] })
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
})

test('a member of a group is notified once, even if it is assigned directly or is in two groups', async (t) => {
  await using sink = await openHttpSink()
  const { integration, check, ping, ended, counted } = await aProject(app)
  const hook = (name: string) => integration('webhook', { url: `${sink.url}/${name}/$STATUS` }, name)
  const members = [await hook('a'), await hook('b'), await hook('c')]
  const [a = '', b = ''] = members
  const group = await integration('group', { channels: members })
  const overlapping = await integration('group', { channels: [a, b] }, 'overlapping')
  const uuid = await check([a, group, overlapping])
  const all = [...members, group, overlapping]
  await ping(uuid, '/fail')
  for (const one of all) await ended(one, 1)
  t.deepEqual(sink.requests.map(({ path }) => path).sort(), ['/a/down', '/b/down', '/c/down'])
  await ping(uuid)
  for (const one of all)
    t.deepEqual(
      (await ended(one, 2)).map(({ state }) => state),
      ['delivered', 'delivered'],
    )
  t.deepEqual(
    sink.requests
      .slice(3)
      .map(({ path }) => path)
      .sort(),
    ['/a/up', '/b/up', '/c/up'],
  )
  t.deepEqual(await counted(), { pending: 0, total: 10 })
})

test('a group reports its failed members, which retry independently', async (t) => {
  await using sink = await openHttpSink()
  sink.respond = ({ path }) => ({ status: path === '/bad' ? 500 : 200 })
  const { integration, check, ping, ended, counted } = await aProject(app)
  const members = [
    await integration('webhook', { url: `${sink.url}/bad` }),
    await integration('webhook', { url: `${sink.url}/good` }),
  ]
  const group = await integration('group', { channels: members })
  await ping(await check([group]), '/fail')
  t.deepEqual(await ended(group, 1), [{ state: 'failed', error: '1 out of 2 notifications failed', attempts: 1 }])
  t.like(await counted(), { pending: 1, total: 3 })
  const [bad] = await query<{ error: string; isLater: boolean }>(
    app.deps.db,
    `SELECT n.error, n.next_attempt_at > n.created_at + interval '3 seconds' AS "isLater" FROM notifications n JOIN integrations c ON c.id = n.integration_id
     WHERE c.uuid = ?`,
    [members[0] ?? ''],
  )
  t.deepEqual(bad, { error: 'Received status code 500', isLater: true })
})

test('a test message to a group is a test for each member', async (t) => {
  await using sink = await openHttpSink()
  const { integration, call, ended } = await aProject(app)
  const member = await integration('webhook', { url: `${sink.url}/$NAME` })
  const group = await integration('group', { channels: [member] })
  await call('POST', `/channels/${group}/test`)
  for (const one of [group, member]) t.is((await ended(one, 1))[0]?.state, 'delivered')
  t.is(sink.requests[0]?.path, '/Test%20from%20Signalbox')
})

test('deleting a check during its alert discards the alert and leaves the integration enabled', async (t) => {
  await using sink = await openHttpSink()
  const { integration, check, ping, ended, call, project } = await aProject(app)
  const hook = await integration('webhook', { url: `${sink.url}/$NAME` })
  const { db, outbox } = app.deps
  const doomed = await addCheck(app.deps, project.id, { name: 'doomed' })
  const stored = await findIntegration(db, project.id, hook)
  const [flip] = await query<{ id: number }>(
    db,
    `INSERT INTO flips (check_id, at, from_status, to_status, processed_at) VALUES (?, now(), 'up', 'down', now()) RETURNING id`,
    [doomed.id],
  )
  const alert = { flipId: flip?.id ?? 0, checkId: doomed.id, status: 'down' } as const
  const [notificationId = ''] = await insertNotifications(db, alert, [stored?.id ?? 0])
  await db.transaction(async (tx) => {
    // The lock blocks the attempt before it reads the flip, until the check is deleted.
    await tx.raw('LOCK TABLE flips IN ACCESS EXCLUSIVE MODE')
    await outbox.run((_, enqueue) => enqueue(notificationDue, { notificationId }))
    await eventually('the alert to be in flight', async () => {
      const [row] = await query(db, 'SELECT 1 FROM notifications WHERE id = ? AND attempts = 1', [notificationId])
      return row !== undefined
    })
    await tx('checks').where({ id: doomed.id }).delete()
  })
  await ping(await check([hook], 'next'), '/fail')
  t.deepEqual(await ended(hook, 1), [{ state: 'delivered', error: '', attempts: 1 }])
  t.deepEqual(
    sink.requests.map(({ path }) => path),
    ['/next'],
  )
  t.like(await call('GET', `/channels/${hook}`), { disabled: false, last_error: '' })
})

test('the alert of a check with several sources contains their state', async (t) => {
  await using sink = await openHttpSink()
  const { integration, check, ping, call } = await aProject(app)
  const uuid = await check([await integration('slack', { url: sink.url })])
  await call('POST', `/checks/${uuid}/rules`, {
    sources: { by: 'query', expect: ['web1', 'web2', 'web3'], need: 2 },
  })
  for (const suffix of ['?source=web1', '?source=web2', '/fail?source=web2']) await ping(uuid, suffix)
  const text = (await sink.waitFor(1)).body.toString()
  t.regex(text, /1 of 3 sources reports, 2 are needed\. Silent: web2 \(failed \d\d:\d\d\), web3 \(never\)\./)
})

test('failures of sources that are not expected do not count for a policy', async (t) => {
  await using sink = await openHttpSink()
  const { integration, check, ping, call } = await aProject(app)
  const { db } = app.deps
  const uuid = await check([await integration('slack', { url: sink.url })])
  const [{ id }] = await db('checks').where({ uuid }).select('id')
  await call('POST', '/policies/', { name: 'p', match: '*', when: { failures: 2 }, steps: [{}] })
  await call('POST', `/checks/${uuid}/rules`, { sources: { by: 'query', expect: ['web1'], need: 1 } })
  for (const suffix of ['?source=web1', '/fail?source=web1', '/fail?source=web2', '/fail?source=web2'])
    await ping(uuid, suffix)
  const { pings } = await call('GET', `/checks/${uuid}/pings/`)
  t.like(
    pings,
    [{ type: 'fail' }, { type: 'fail' }, { type: 'fail' }, { type: 'success' }],
    'the log contains all pings',
  )
  const results = await recentResultsOf(db, [Number(id)])
  t.deepEqual(
    results.map(({ ok }) => ok),
    [true, false],
  )
  await ping(uuid, '/fail?source=web1')
  // The alerter runs beside the notifier; without a sweeper, only this message makes it work.
  await eventually('the alert', async () => {
    await app.deps.outbox.run((_tx, enqueue) => enqueue(alertsReevaluate, {}))
    return sink.requests.length > 0
  })
  t.like(await db('incidents').where({ check_id: id }).first(), { failures: 2 })
})
