import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'
import { type Answer, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { aPingedProject } from './listeners.ts'

const NO_CACHE = 'max-age=0, no-cache, no-store, must-revalidate, private'
const RID = '0b9a2c5e-0a55-4a43-9d4c-6f5f0c1e7a11'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

/** The headers that the specification names, absent ones as undefined. */
function headersOf({ headers }: Answer) {
  return {
    type: headers['content-type'],
    limit: headers['ping-body-limit'],
    origin: headers['access-control-allow-origin'],
    cache: headers['cache-control'],
    safety: headers['x-content-type-options'],
    hasExpired: headers.expires === undefined ? undefined : Date.parse(headers.expires) <= Date.now(),
  }
}

const LOGGED = {
  type: 'text/plain; charset=utf-8',
  limit: '10000',
  origin: '*',
  cache: NO_CACHE,
  safety: 'nosniff',
  hasExpired: true,
}

for (const [suffix, type, exitStatus] of [
  ['', 'success', null],
  ['/', 'success', null],
  ['/start', 'start', null],
  ['/fail', 'fail', null],
  ['/log', 'log', null],
  ['/0', 'success', 0],
  ['/007', 'fail', 7],
  ['/255', 'fail', 255],
] as const) {
  test(`GET, HEAD and POST of <uuid>${suffix} are logged as ${type}`, async (t) => {
    const { uuid, recorded } = await aPingedProject(app)
    for (const method of ['GET', 'HEAD', 'POST']) {
      const answer = await send(app.url, `/ping/${uuid}${suffix}?rid=${RID.toUpperCase()}`, { method })
      t.deepEqual([answer.status, answer.text], [200, method === 'HEAD' ? '' : 'OK'], method)
      t.deepEqual(headersOf(answer), LOGGED)
      t.is(answer.headers['content-length'], '2')
    }
    const pings = await recorded()
    t.deepEqual(
      pings.map((ping) => [ping.n, ping.type, ping.method, ping.exitStatus, ping.rid]),
      ['GET', 'HEAD', 'POST'].map((method, index) => [index + 1, type, method, exitStatus, RID]),
    )
  })
}

for (const [suffix, type] of [
  ['', 'success'],
  ['/start', 'start'],
  ['/fail', 'fail'],
  ['/log', 'log'],
  ['/0', 'success'],
  ['/3', 'fail'],
] as const) {
  test(`<ping key>/<slug>${suffix} is logged as ${type}`, async (t) => {
    const { pingKey, recorded } = await aPingedProject(app)
    const answer = await send(app.url, `/ping/${pingKey}/job${suffix}`)
    t.deepEqual([answer.status, answer.text, headersOf(answer)], [200, 'OK', LOGGED])
    t.deepEqual(
      (await recorded()).map((ping) => ping.type),
      [type],
    )
  })
}

const NEVER = randomUUID()

// Paths after /ping/; last column: the answer has the cache headers (docs/spec/monitoring.md#ping-response-headers).
for (const [path, status, text, hasCacheHeaders] of [
  [NEVER, 404, 'not found', true],
  [`${NEVER}/256`, 404, 'not found', true],
  [`${NEVER}?rid=x`, 404, 'not found', true],
  ['{uuid}/256', 400, 'invalid url format', true],
  ['{uuid}/99999999999999999999', 400, 'invalid url format', true],
  ['{uuid}/256?rid=x', 400, 'invalid url format', true],
  ['{uuid}?rid=x', 400, 'invalid uuid format', true],
  ['{uuid}?rid=', 400, 'invalid uuid format', true],
  ['{uuid}?rid', 400, 'invalid uuid format', true],
  [`{uuid}?rid=${RID}%0A`, 400, 'invalid uuid format', true],
  [`{uuid}?rid=${RID.replaceAll('-', '')}`, 400, 'invalid uuid format', true],
  [`{uuid}?rid=${RID}&rid=x`, 400, 'invalid uuid format', true],
  ['{uuid}/bogus', 404, 'not found', false],
  ['{uuid}/-1', 404, 'not found', false],
  ['{uuid}/START', 400, 'invalid url format', false],
  ['{key}/Job', 400, 'invalid url format', false],
  ['{key}/Job/256?rid=x', 400, 'invalid url format', false],
  ['{key}/Twin', 400, 'invalid url format', false],
  ['{key}/other', 404, 'not found', false],
  ['{key}/other/256', 404, 'not found', false],
  ['{key}/other?create=0', 404, 'not found', false],
  ['{key}/other?create=true', 404, 'not found', false],
  ['{key}/other?create=1&create=2', 404, 'not found', false],
  ['{rw}/job', 404, 'not found', false],
  ['pppppppppppppppppppppp/job', 404, 'not found', false],
  ['pppppppppppppppppppppp/job?create=1', 404, 'not found', false],
  ['{key}/twin', 409, 'ambiguous slug', false],
  ['{key}/twin/256?rid=x', 409, 'ambiguous slug', false],
  ['{key}/twin?create=1', 409, 'ambiguous slug', false],
  ['{key}/job/256', 400, 'invalid url format', true],
  ['{key}/job/256?rid=x', 400, 'invalid url format', true],
  ['{key}/job?rid=x', 400, 'invalid uuid format', true],
] as const) {
  test(`/ping/${path.replace(NEVER, '<unknown uuid>')} is ${status} ${text}, and nothing is logged`, async (t) => {
    const { fill, total } = await aCrowdedProject()
    for (const method of ['GET', 'POST', 'HEAD']) {
      const answer = await send(app.url, `/ping/${fill(path)}`, { method })
      t.deepEqual([answer.status, answer.text], [status, method === 'HEAD' ? '' : text], method)
      const cache = hasCacheHeaders
        ? { cache: NO_CACHE, hasExpired: true }
        : { cache: undefined, hasExpired: undefined }
      const common = { type: LOGGED.type, safety: LOGGED.safety, limit: undefined, origin: undefined }
      t.deepEqual(headersOf(answer), { ...common, ...cache })
    }
    t.is(await total(), 0)
  })
}

for (const path of [
  '',
  '{key}',
  '{key}/',
  '{key}/job/',
  '{key}/job/start/',
  '{key}/job/bogus',
  '{key}/jo.b',
  '{uuid}/start/',
  '{UUID}',
  '{uuid}%20',
]) {
  test(`/ping/${path} matches no form and gets 404`, async (t) => {
    const { fill, total } = await aCrowdedProject()
    t.is((await send(app.url, `/ping/${fill(path)}`)).status, 404)
    t.is(await total(), 0)
  })
}

for (const method of ['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']) {
  test(`${method} gets 405 and logs nothing`, async (t) => {
    const { uuid, pingKey, recorded } = await aPingedProject(app)
    for (const path of [uuid, `${uuid}/fail`, `${pingKey}/job`]) {
      t.is((await send(app.url, `/ping/${path}`, { method })).status, 405)
    }
    t.deepEqual(await recorded(), [])
  })
}

test('a preflight gets 204 for any origin and logs nothing', async (t) => {
  const { uuid, pingKey, recorded, checks } = await aPingedProject(app)
  for (const path of [uuid, `${uuid}/start`, `${pingKey}/job`, `${pingKey}/new?create=1`]) {
    const answer = await send(app.url, `/ping/${path}`, { method: 'OPTIONS' })
    t.deepEqual([answer.status, answer.text, answer.headers['access-control-allow-origin']], [204, '', '*'])
  }
  t.deepEqual(await recorded(), [])
  t.is((await checks()).length, 1)
})

/** A project with the check `job` and two more that share a slug. */
async function aCrowdedProject() {
  const { uuid, pingKey, rwKey, project, checks } = await aPingedProject(app)
  for (const name of ['a', 'b']) await addCheck(app.deps, project.id, { name, slug: 'twin' })
  const names: Record<string, string> = { uuid, UUID: uuid.toUpperCase(), key: pingKey, rw: rwKey }
  return {
    fill: (text: string) => text.replace(/\{(\w+)\}/g, (whole, name: string) => names[name] ?? whole),
    /** pings of the whole project; its three checks are still all there are */
    async total() {
      const listed = await checks()
      if (listed.length !== 3) throw new Error(`there are ${listed.length} checks`)
      return listed.reduce((sum, check) => sum + Number(check.n_pings), 0)
    },
  }
}
