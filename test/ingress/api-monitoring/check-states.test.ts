import test from 'ava'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addIntegration } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { aProject } from './owned-project.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

test('pausing and resuming change status, times and flips', async (t) => {
  const { create, post, ping, viewOf, rwKey } = await aProject(app)
  const { uuid } = await create()
  await ping(uuid)
  const paused = await post(`/checks/${uuid}/pause`)
  t.like(viewOf(paused), { status: 'paused', n_pings: 1, next_ping: null, started: false })
  t.not(viewOf(paused).last_ping, null)
  t.is((await post(`/checks/${uuid}/pause`)).status, 200)
  const resumed = await post(`/checks/${uuid}/resume`)
  t.like(viewOf(resumed), { status: 'new', n_pings: 1, last_ping: null, next_ping: null })
  const again = await post(`/checks/${uuid}/resume`)
  t.deepEqual([again.status, again.text], [409, 'check is not paused'])
  const flips = await send(app.url, `/api/v3/checks/${uuid}/flips/`, { headers: { 'X-Api-Key': rwKey } })
  t.deepEqual(
    (jsonOf(flips) as { up: number }[]).map(({ up }) => up),
    [0, 0, 1],
  )
  const { rows } = await app.deps.db.raw(
    `SELECT count(*)::int AS open FROM flips WHERE check_id = (SELECT id FROM checks WHERE uuid = ?)
     AND from_status <> 'new' AND processed_at IS NULL`,
    [uuid],
  )
  t.is(rows[0].open, 0)
})

test('a ping ends a pause, unless the check is resumed manually', async (t) => {
  const { create, post, ping, get } = await aProject(app)
  for (const [body, action, status] of [
    [{}, '', 'up'],
    [{}, '/fail', 'down'],
    [{}, '/start', 'new'],
    [{}, '/log', 'paused'],
    [{ manual_resume: true }, '', 'paused'],
  ] as const) {
    const { uuid } = await create(body)
    await post(`/checks/${uuid}/pause`)
    await ping(uuid, action)
    t.like(await get(uuid), { status, n_pings: 1 }, action)
  }
})

test('deleting returns the former check without integrations, and deletes all its rows', async (t) => {
  const { create, remove, ping, project, rwKey, viewOf } = await aProject(app)
  await addIntegration(app.deps, project.id, 'a')
  const check = await create({ name: 'gone', channels: '*' })
  await ping(check.uuid)
  const answer = await remove(check.uuid)
  t.is(answer.status, 200)
  t.like(viewOf(answer), { name: 'gone', n_pings: 1, status: 'up', channels: '', uuid: check.uuid })
  t.is((await remove(check.uuid)).status, 404)
  t.is((await send(app.url, `/api/v3/checks/${check.uuid}`, { headers: { 'X-Api-Key': rwKey } })).status, 404)
  t.is((await ping(check.uuid)).status, 404)
})

test('concurrent deletes, updates, pauses and pings are answered, and leave no ping of a deleted check', async (t) => {
  const { project, post, remove, ping } = await aProject(app)
  const check = await addCheck(app.deps, project.id)
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => ping(check.uuid)),
    ...Array.from({ length: 5 }, () => post(`/checks/${check.uuid}`, { name: 'x' })),
    ...Array.from({ length: 5 }, () => post(`/checks/${check.uuid}/pause`)),
    remove(check.uuid),
  ])
  for (const answer of answers) t.true([200, 404].includes(answer.status), `${answer.status} ${answer.text}`)
  await app.deps.barrier.pass('all')
  const { rows } = await app.deps.db.raw('SELECT count(*)::int AS n FROM pings WHERE check_id = ?', [check.id])
  t.is(rows[0].n, 0)
})

test('pausing accepts an object as its body, but no form or list', async (t) => {
  const { create, rwKey } = await aProject(app)
  const { uuid } = await create()
  const pause = (body: string) =>
    send(app.url, `/api/v3/checks/${uuid}/pause`, { method: 'POST', headers: { 'X-Api-Key': rwKey }, body })
  t.is((await pause('a=b')).status, 400)
  t.is((await pause('[]')).status, 400)
  t.is((await pause('{"any": "thing"}')).status, 200)
})
