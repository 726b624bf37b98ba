import { randomUUID } from 'node:crypto'
import test from 'ava'
import { openHttpSink } from '../../support/http-sink.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const post = async (key: string, path: string, body: object = {}) => {
  const headers = { 'X-Api-Key': key }
  const answer = await send(app.url, `/api/v3${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const json = answer.text === '' ? {} : jsonOf(answer)
  return { status: answer.status, body: json as Record<string, unknown> }
}

test('checks of another monitor are planned, imported and watched by API', async (t) => {
  await using source = await openHttpSink()
  const check = { uuid: randomUUID(), name: 'Nightly', desc: '', timeout: 3600, grace: 60, status: 'up' }
  source.respond = ({ path }) => ({
    body: JSON.stringify(path.endsWith('/checks/') ? { checks: [check] } : { channels: [], badges: {} }),
  })
  const { rwKey, roKey } = await addProject(app.deps)
  const other = await addProject(app.deps)
  const from = { url: source.url, api_key: 'k'.repeat(32) }
  t.is((await post(roKey, '/import-from/healthchecks', from)).status, 401)
  const planned = await post(rwKey, '/import-from/healthchecks', from)
  t.like(planned, { status: 200, body: { applied: false, conflicts: [] } })
  t.deepEqual(planned.body.create, [{ id: check.uuid, name: 'Nightly', paused: false, timeout: 3600, grace: 60 }])
  const { plan, digest } = planned.body
  t.is((await post(other.rwKey, `/import-from/${plan}/apply`)).status, 404)
  t.like(await post(rwKey, `/import-from/${plan}/apply?digest=another`), { status: 200, body: { applied: false } })
  t.like(await post(rwKey, `/import-from/${plan}/apply?digest=${digest}`), { status: 200, body: { applied: true } })
  t.is((await post(rwKey, `/import-from/${plan}/apply`)).status, 404, 'a plan is applied once')
  const [hereOnly, inBoth] = [{ desc: 'changed here' }, { timeout: 7200 }]
  t.is((await post(rwKey, `/checks/${check.uuid}`, { ...hereOnly, ...inBoth })).status, 200)
  check.timeout = 1800
  t.like(await post(rwKey, '/import-from/healthchecks', from), { body: { conflicts: [{ id: check.uuid }] } })
  const overwriting = await post(rwKey, '/import-from/healthchecks?overwrite=1', from)
  t.like(overwriting.body, {
    conflicts: [],
    update: [{ id: check.uuid, changes: { schedule: { from: '7200', to: '1800' } } }],
  })
  const confirmed = `/import-from/${overwriting.body.plan}/apply?overwrite=1&digest=${overwriting.body.digest}`
  t.like(await post(rwKey, confirmed), { body: { applied: true, kept: [{ id: check.uuid }] } })
  t.deepEqual((await post(rwKey, '/import-from/start')).body, { watched: 1 })
  t.deepEqual((await post(rwKey, '/import-from/start')).body, { watched: 0 })
})

test('a source that is unknown or not readable is refused by API', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const refused: [source: string, body: object, status: number, error?: string][] = [
    ['nagios', {}, 404],
    ['healthchecks', { api_key: 'k' }, 400, 'url must be a string'],
    [
      'healthchecks',
      { url: 'no address', api_key: 'k' },
      400,
      'the address must begin with https:// or http:// and a host name',
    ],
    ['cronitor', { text: 'jobs: [' }, 400, 'the file is not YAML: line 1'],
    ['cronitor', {}, 400, 'text must be a string'],
    ['uptime-kuma', { text: '{}' }, 400, 'the file is not a backup of Uptime Kuma'],
  ]
  for (const [source, body, status, error] of refused) {
    const answer = await post(rwKey, `/import-from/${source}`, body)
    t.is(answer.status, status, JSON.stringify([source, body]))
    if (error !== undefined) t.is(answer.body.error, error)
  }
  const cronitor = await post(rwKey, '/import-from/cronitor', { text: 'jobs: {a: {schedule: every hour}}' })
  t.like(cronitor, { status: 200, body: { source: 'cronitor' } })
})
