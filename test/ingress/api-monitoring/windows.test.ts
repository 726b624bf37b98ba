import test from 'ava'
import { z } from 'zod'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { type Answer, jsonOf as anyJson, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const jsonOf = (answer: Answer) => z.record(z.string(), z.unknown()).parse(anyJson(answer))

async function someone() {
  const { project, rwKey, roKey } = await addProject(app.deps)
  const call = (method: string, path: string, body?: unknown, key = rwKey) =>
    send(app.url, `/api/v3${path}`, {
      method,
      headers: { 'X-Api-Key': key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return { project, roKey, call, post: (path: string, body: unknown) => call('POST', path, body) }
}

test('windows are created, read, changed and deleted; a read-only key reads them', async (t) => {
  const { call, post, roKey } = await someone()
  const once = {
    name: 'Patch night',
    match: 'db',
    starts: '2026-11-22T01:00:00+00:00',
    ends: '2026-11-22T03:00:00+00:00',
  }
  const made = await post('/windows/', { ...once, uptime: 'exclude', shown: true })
  t.is(made.status, 201)
  const { id } = jsonOf(made)
  t.deepEqual(jsonOf(made), { id, checks: [], ...once, uptime: 'exclude', shown: true })
  const weekly = { every: 'Sat 02:00', for: 7200, tz: 'Europe/Riga' }
  t.like(jsonOf(await post(`/windows/${id}`, weekly)), { ...weekly, name: 'Patch night', uptime: 'exclude' })
  t.is((await call('GET', `/windows/${id}`, undefined, roKey)).status, 200)
  t.is((await call('POST', `/windows/${id}`, { name: 'x' }, roKey)).status, 401)
  t.like(jsonOf(await call('GET', '/windows/', undefined, roKey)), { windows: [{ id }] })
  t.is((await call('DELETE', `/windows/${id}`)).status, 200)
  t.is((await call('GET', `/windows/${id}`)).status, 404)
})

test('a window belongs to one project and names only checks of that project', async (t) => {
  const [one, other] = [await someone(), await someone()]
  const foreign = await addCheck(app.deps, other.project.id)
  const refused = await one.post('/windows/', { checks: [foreign.uuid], for: 3600 })
  t.is(refused.status, 400)
  t.deepEqual(jsonOf(refused), { error: `invalid check identifier: ${foreign.uuid}` })
  const { id } = jsonOf(await other.post('/windows/', { checks: [foreign.uuid], for: 3600 }))
  t.is((await one.call('GET', `/windows/${id}`)).status, 404)
  t.is((await one.call('DELETE', `/windows/${id}`)).status, 404)
})

test('parents are stored; a cycle is refused by name, a foreign check as unknown', async (t) => {
  const { project, call, post } = await someone()
  const router = await addCheck(app.deps, project.id, { name: 'router' })
  const web = await addCheck(app.deps, project.id, { name: 'web' })
  const parents = [{ check: router.uuid }]
  t.like(jsonOf(await post(`/checks/${web.uuid}/rules`, { parents, parents_mode: 'all' })), {
    parents,
    parents_mode: 'all',
  })
  t.like(jsonOf(await call('GET', `/checks/${web.uuid}/rules`)), { parents, parents_mode: 'all' })
  const ring = await post(`/checks/${router.uuid}/rules`, { parents: [{ check: web.uuid }] })
  t.is(ring.status, 400)
  t.deepEqual(jsonOf(ring), { error: 'json validation error: parents must not make a cycle: router > web > router' })
  const self = await post(`/checks/${web.uuid}/rules`, { parents: [{ check: web.uuid }] })
  t.deepEqual(jsonOf(self), { error: 'json validation error: parents must not make a cycle: web > web' })
  const foreign = await addCheck(app.deps, (await someone()).project.id)
  const unknown = await post(`/checks/${web.uuid}/rules`, { parents: [{ check: foreign.uuid }] })
  t.deepEqual(jsonOf(unknown), { error: `invalid check identifier: ${foreign.uuid}` })
  t.like(jsonOf(await post(`/checks/${web.uuid}/rules`, { parents: null })), { parents: [] })
})

test('a project has at most 100 windows; one of them may still be changed', async (t) => {
  const { project, post } = await someone()
  const window = { match: '*', starts_at: new Date(), ends_at: new Date() }
  const rows = Array.from({ length: 99 }, () => ({ ...window, project_id: project.id, name: 'w' }))
  await app.db('maintenance_windows').insert(rows)
  const made = await post('/windows/', { match: '*', for: 60 })
  t.is(made.status, 201)
  t.deepEqual(await post('/windows/', { match: '*', for: 60 }).then(({ status, text }) => [status, text]), [403, ''])
  t.is((await post(`/windows/${jsonOf(made).id}`, { name: 'changed' })).status, 200)
})

test('lists of windows and of policies are pages, newest first', async (t) => {
  for (const list of ['windows', 'policies']) {
    const { call, post } = await someone()
    const ids: unknown[] = []
    for (const name of ['a', 'b', 'c']) {
      const made = await post(`/${list}/`, {
        name,
        match: '*',
        ...(list === 'windows' ? { for: 60 } : { steps: [{}] }),
      })
      ids.unshift(jsonOf(made).id)
    }
    const page = async (query: string) => {
      const { next, [list]: rows } = jsonOf(await call('GET', `/${list}/${query}`))
      return {
        next,
        ids: z
          .array(z.object({ id: z.string() }))
          .parse(rows)
          .map(({ id }) => id),
      }
    }
    const first = await page('?limit=2')
    t.deepEqual(first.ids, ids.slice(0, 2))
    t.deepEqual(await page(`?limit=2&before=${first.next}`), { next: null, ids: ids.slice(2) })
    t.deepEqual(await page(''), { next: null, ids })
    const refused = await call('GET', `/${list}/?limit=0`)
    t.is(refused.text, '{"error":"json validation error: limit must be between 1 and 100"}')
  }
})
