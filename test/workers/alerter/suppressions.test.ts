import test from 'ava'
import { storeGaps } from '#shared/monitoring/availability/gap-store.ts'
import { endWindow } from '#shared/monitoring/operations/windows.ts'
import { nowMicros } from '#shared/time.ts'
import { addChat, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { jsonOf } from '../../support/send.ts'
import { notifiedOf, withChecks } from './checks-with-webhook.ts'

// Serial, because several products at once need more connections than an untuned PostgreSQL server allows.
const WORKERS = ['ping-evaluator', 'alerter', 'notifier', 'sweeper']

const reasons = async ({ db }: HttpProduct, check: { id: number } | undefined) =>
  (await db('alert_decisions').where({ check_id: check?.id }).orderBy('id')).map(({ reason }) => reason)

test.serial('a window delays notifications until it ends and drops those of recovered outages', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { db } = product
  const { checks, post, ping } = await withChecks(product, sink, ['brief', 'lasting', 'outside'])
  const [brief, lasting, outside] = checks
  const window = await post('/windows/', { name: 'Patch night', checks: [brief?.uuid, lasting?.uuid], for: 3600 })
  t.is(window.status, 201)
  for (const check of checks) await ping(check)
  for (const check of checks) await ping(check, '/fail')
  await sink.waitFor(1)
  t.deepEqual(notifiedOf(sink), [`down ${outside?.uuid}`], 'a check outside the window notifies at once')
  await eventually(
    'both to be suppressed',
    async () => (await db('incidents').where({ suppression: 'MAINTENANCE' })).length === 2,
  )
  await ping(brief)
  await eventually('the brief one to resolve', async () => (await reasons(product, brief)).includes('RECOVERED_FIRST'))

  // The window ends.
  await db('maintenance_windows').update({ ends_at: db.raw(`now() + interval '1 second'`) })
  await db('incidents')
    .whereNull('resolved_at')
    .update({ next_at: db.raw(`now() + interval '1 second'`) })
  await sink.waitFor(2)
  t.is(notifiedOf(sink)[1], `down ${lasting?.uuid}`)
  t.deepEqual(await reasons(product, lasting), ['FIRST_SUCCESS', 'MAINTENANCE', 'WINDOW_ENDED'])
  await ping(lasting)
  await sink.waitFor(3)
  t.is(notifiedOf(sink)[2], `up ${lasting?.uuid}`)
  t.false(
    notifiedOf(sink).some((notified) => notified.includes(brief?.uuid ?? '-')),
    'the brief outage sent nothing',
  )
})

test.serial('a recovery is sent after a direct notification despite a later window or parent', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { checks, post, ping } = await withChecks(product, sink, ['patched', 'child', 'router'])
  const [patched, child, router] = checks
  for (const check of [patched, child]) await ping(check)
  for (const check of [patched, child]) await ping(check, '/fail')
  await sink.waitFor(2)
  t.is((await post('/windows/', { checks: [patched?.uuid], for: 3600 })).status, 201)
  t.is((await post(`/checks/${child?.uuid}/rules`, { parents: [{ check: router?.uuid }] })).status, 200)
  for (const check of [patched, child]) await ping(check)
  await sink.waitFor(4)
  t.deepEqual(notifiedOf(sink).slice(2).sort(), [`up ${patched?.uuid}`, `up ${child?.uuid}`].sort())
})

test.serial('deleting or ending a window sends suppressed notifications at once', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { checks, post, ping } = await withChecks(product, sink, ['suppressed'])
  const [check] = checks
  const begin = new Date(Date.now() - 3_600_000).toISOString()
  const every = `*-${begin.slice(5, 10)} ${begin.slice(11, 16)}`
  const yearly = jsonOf(await post('/windows/', { match: '*', every, for: 7200 })) as { id: string }
  const { id } = jsonOf(await post('/windows/', { name: 'w', match: '*', for: 3600 })) as { id: string }
  await ping(check)
  await ping(check, '/fail')
  await eventually('it to be suppressed', async () => (await reasons(product, check)).includes('MAINTENANCE'))
  t.is(sink.requests.length, 0)
  t.is((await post(`/windows/${id}`, {}, 'DELETE')).status, 200)
  const { db, deps } = product
  const project = await db('projects').first('id', 'organisation_id as organisationId')
  const input = { project, uuid: yearly.id, now: deps.now() }
  await endWindow(db, { kind: 'operator', name: 'tester' }, input)
  await sink.waitFor(1)
  t.is(notifiedOf(sink)[0], `down ${check?.uuid}`)
})

test.serial('a parent that is down suppresses notifications of its child', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { checks, post, ping } = await withChecks(product, sink, ['router', 'web'])
  const [router, web] = checks
  t.is((await post(`/checks/${web?.uuid}/rules`, { parents: [{ check: router?.uuid }] })).status, 200)
  const cycle = await post(`/checks/${router?.uuid}/rules`, { parents: [{ tag: 'web' }] })
  t.is(cycle.status, 400)
  t.regex(cycle.text, /json validation error: parents must not make a cycle: router > web > router/)
  await ping(router)
  await ping(web)
  await ping(router, '/fail')
  await sink.waitFor(1)
  await ping(web, '/fail')
  await eventually('web to be suppressed', async () => (await reasons(product, web)).includes('PARENT_DOWN'))
  await ping(router)
  await sink.waitFor(2)
  await ping(web)
  await eventually('web to resolve', async () => (await reasons(product, web)).includes('RECOVERED_FIRST'))
  t.deepEqual(notifiedOf(sink), [`down ${router?.uuid}`, `up ${router?.uuid}`])
  const decision = await product.db('alert_decisions').where({ check_id: web?.id, reason: 'PARENT_DOWN' }).first()
  t.like(decision, { outcome: 'suppressed', detail: { check: router?.uuid, name: 'router' } })
})

test.serial('only the down notification of a parent contains the number of dependents', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { db, deps } = product
  const names = ['plain', 'planned', 'a', 'b', 'c']
  const { checks, post, ping } = await withChecks(product, sink, names)
  const [plain, planned, a, b, c] = checks
  if (!plain || !planned) return t.fail()
  await notify(db, [plain, planned], [await addChat(deps, plain.projectId, `${sink.url}/chat`)])
  await post('/policies/', { name: 'On call', match: 'planned', steps: [{}] })
  await post(`/checks/${a?.uuid}/rules`, { parents: [{ check: plain.uuid }, { tag: 'plain' }, { tag: 'planned' }] })
  await post(`/checks/${b?.uuid}/rules`, { parents: [{ tag: 'plain' }] })
  await post(`/checks/${c?.uuid}/rules`, { parents: [{ check: a?.uuid }] })
  const textAfter = async (status: string, check: { uuid: string; name: string }, end = '') => {
    await ping(check, end)
    const title = `\\"${check.name}\\" is ${status}`
    const matches = (request: { path: string; body: Buffer }) =>
      request.path === '/chat' && request.body.toString().includes(title)
    return (await sink.waitFor(matches)).body.toString()
  }
  for (const check of [plain, planned]) await ping(check)
  t.regex(await textAfter('DOWN', plain, '/fail'), /\(a failure signal was received\)\. 2 checks depend on it\./)
  t.notRegex(await textAfter('UP', plain), /depend/)
  t.regex(await textAfter('DOWN', planned, '/fail'), /\. 1 check depends on it\./)
})

test.serial('a cycle of parents through tags suppresses no notification', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { checks, post, ping } = await withChecks(product, sink, ['a', 'b'])
  const [a, b] = checks
  t.is((await post(`/checks/${a?.uuid}/rules`, { parents: [{ tag: 'later' }] })).status, 200)
  t.is((await post(`/checks/${b?.uuid}/rules`, { parents: [{ check: a?.uuid }] })).status, 200)
  t.is((await post(`/checks/${b?.uuid}`, { tags: 'later' })).status, 200)
  await ping(a)
  await ping(b)
  await product.db('checks').update({ status: 'up' })
  await Promise.all([ping(a, '/fail'), ping(b, '/fail')])
  await eventually('both to notify', async () => new Set(notifiedOf(sink)).size === 2)
  const decided = [...(await reasons(product, a)), ...(await reasons(product, b))]
  t.true(decided.includes('PARENT_CYCLE'), decided.join())
})

test.serial('a coverage gap suppresses only checks of its listener, until it ends', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { db } = product
  const { checks, post, ping } = await withChecks(product, sink, ['by-http', 'by-mail'])
  const [byHttp, byMail] = checks
  t.is((await post('/policies/', { name: 'p', match: '*', steps: [{ repeat: { every: 3600 } }] })).status, 201)
  for (const check of checks) await ping(check)
  for (const check of checks) await ping(check, '/fail')
  await sink.waitFor(2)
  await db('pings').where({ check_id: byMail?.id }).update({ scheme: 'email' })
  const hour = db.raw(`now() + interval '1 hour'`)
  await db('coverage_gaps').insert({
    listener: 'http',
    shards: -1,
    from_at: db.fn.now(),
    until_at: hour,
    kind: 'clock',
    cause: '-',
  })
  const earlier = { alert_at: db.raw(`alert_at - interval '1 hour'`), evaluated_at: db.fn.now(), next_at: db.fn.now() }
  await db('incidents').update(earlier)
  await eventually('the repeat of by-mail', async () => (await reasons(product, byMail)).includes('REPEAT'))
  await eventually('by-http to be suppressed', async () => (await reasons(product, byHttp)).includes('COVERAGE_GAP'))
  t.deepEqual(
    await reasons(product, byHttp),
    ['FIRST_SUCCESS', 'FIRST', 'COVERAGE_GAP'],
    'the first message was not suppressed',
  )
  t.deepEqual(await reasons(product, byMail), ['FIRST_SUCCESS', 'FIRST', 'REPEAT'])
  await db('coverage_gaps').update({ until_at: db.fn.now() })
  await storeGaps(db, [], nowMicros())
  await eventually('the repeat of by-http', async () => (await reasons(product, byHttp)).at(-1) === 'REPEAT')
})

test.serial('a paused, deleted or unlinked parent stops suppressing its children', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { db } = product
  const names = ['paused', 'deleted', 'unlinked', 'untagged', 'left', 'a', 'b', 'c', 'd', 'e']
  const { checks, post, ping } = await withChecks(product, sink, names)
  const [paused, deleted, , untagged] = checks
  const children = checks.slice(5)
  for (const check of checks) await ping(check)
  for (const [index, child] of children.entries()) {
    const parent = index === 3 ? { tag: 'untagged' } : { check: checks[index]?.uuid }
    t.is((await post(`/checks/${child.uuid}/rules`, { parents: [parent] })).status, 200)
  }
  const notifiedBefore = children[4]
  await ping(notifiedBefore, '/fail')
  await sink.waitFor(1)
  for (const check of checks.slice(0, 5)) await ping(check, '/fail')
  await sink.waitFor(6)
  for (const child of children.slice(0, 4)) await ping(child, '/fail')
  await db('incidents').where({ check_id: notifiedBefore?.id }).update({ next_at: db.fn.now() })
  await eventually(
    'all to be suppressed',
    async () => (await db('incidents').where({ suppression: 'PARENT_DOWN' })).length === 5,
  )
  t.is(sink.requests.length, 6)

  // Sequential, to see the effect of each.
  t.is((await post(`/checks/${paused?.uuid}/pause`, {})).status, 200)
  await sink.waitFor(7)
  t.is((await post(`/checks/${deleted?.uuid}`, {}, 'DELETE')).status, 200)
  await sink.waitFor(8)
  t.is((await post(`/checks/${untagged?.uuid}`, { tags: '' })).status, 200)
  await sink.waitFor(9)
  for (const index of [2, 4]) await post(`/checks/${children[index]?.uuid}/rules`, { parents: null })
  await sink.waitFor(10)
  await eventually('no suppression', async () => (await db('incidents').whereNotNull('suppression')).length === 0)
  const once = children.map(({ uuid }) => notifiedOf(sink).filter((notified) => notified === `down ${uuid}`).length)
  t.deepEqual(once, [1, 1, 1, 1, 1], 'each child notified once')
})

test.serial('an acknowledgement before the first attempt withdraws a flapping message', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: ['ping-evaluator', 'alerter', 'sweeper'] })
  const { db } = product
  const { checks, post, ping } = await withChecks(product, sink, ['flaps'])
  await post('/policies/', { name: 'p', match: '*', steps: [{}], flapping: { changes: 3, within: 3600 } })
  for (const end of ['', '/fail', '', '/fail']) {
    await ping(checks[0], end)
    const status = end === '' ? 'up' : 'down'
    await eventually('the change', async () => (await db('checks').where({ status })).length === 1)
  }
  await eventually('the message', () => db('notifications').where({ what: 'flapping', state: 'pending' }).first())
  const { id } = await db('incidents').whereNull('resolved_at').first()
  t.is((await post(`/incidents/${id}/ack`, {})).status, 200)
  await product.workers(['notifier'])
  await db('notifications').update({ queued_until: null })
  await eventually('all to be over', async () => (await db('notifications').where({ state: 'pending' })).length === 0)
  t.like(await db('notifications').where({ what: 'flapping' }).first(), { state: 'suppressed', error: 'Superseded' })
  t.is(sink.requests.length, 0)
})
