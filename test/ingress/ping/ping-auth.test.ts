import { createHash, createHmac } from 'node:crypto'
import test from 'ava'
import { z } from 'zod'
import { query } from '#shared/platform/database/sql.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addIntegration, addProject } from '../../support/projects.ts'
import { type Answer, jsonOf as anyJson, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const jsonOf = (answer: Answer) => z.record(z.string(), z.unknown()).parse(anyJson(answer))

async function someone(rules: object = {}) {
  const owned = await addProject(app.deps)
  const check = await addCheck(app.deps, owned.project.id, { name: 'web', timeoutSeconds: 3600, graceSeconds: 60 })
  const api = (path: string, body?: object, method = body ? 'POST' : 'GET') =>
    send(app.url, `/api/v3${path}`, {
      method,
      headers: { 'X-Api-Key': owned.rwKey },
      ...(body && { body: JSON.stringify(body) }),
    })
  const own = (path: string, body?: object, method?: string) => api(`/checks/${check.uuid}${path}`, body, method)
  const set = Object.keys(rules).length > 0 ? jsonOf(await own('/rules', rules)) : {}
  const ping = (path = '', options: { headers?: Record<string, string>; method?: string; body?: string } = {}) =>
    send(app.url, `/ping/${check.uuid}${path}`, options)
  return { ...owned, check, api, own, set, ping }
}

test('sources are named by query, header or address; no ping is refused for its name', async (t) => {
  const byQuery = await someone({ sources: { by: 'query', expect: ['web1', 'web2'], need: 1 } })
  for (const path of ['?source=web1', '?source=no%20name', '?source=web9', ''])
    t.is((await byQuery.ping(path)).status, 200)
  const { sources, text } = jsonOf(await byQuery.own('/sources/'))
  t.like(sources, [
    { name: 'web1', kind: 'success', fresh: true },
    { name: 'web2', kind: '', fresh: false, last_ping: null },
  ])
  t.is(text, '1 of 2 sources reports, 1 is needed. Silent: web2 (never).')
  const byHeader = await someone({ sources: { by: 'header', expect: 1 } })
  await byHeader.ping('?source=a', { headers: { 'X-Ping-Source': 'b' } })
  t.like(jsonOf(await byHeader.own('/sources/')), { sources: [{ name: 'b' }] })
  const byAddress = await someone({ sources: { by: 'address', expect: 1 } })
  await byAddress.ping()
  t.like(jsonOf(await byAddress.own('/sources/')), { sources: [{ name: '127.0.0.1' }] })
})

test('a failed source is down at once, and deleting it frees its slot', async (t) => {
  const { own, ping } = await someone({ sources: { by: 'query', expect: 1 } })
  await ping('?source=old')
  await ping('/fail?source=old')
  t.like(jsonOf(await own('')), { status: 'down' })
  await ping('?source=new')
  t.like(jsonOf(await own('')), { status: 'down' })
  t.like(jsonOf(await own('/sources/old', undefined, 'DELETE')), { sources: [] })
  t.is((await own('/sources/old', undefined, 'DELETE')).status, 404)
  await ping('?source=new')
  t.like(jsonOf(await own('')), { status: 'up' })
  t.like(jsonOf(await own('/sources/')), { sources: [{ name: 'new', fresh: true }] })
})

test('changing other rules keeps the state of sources', async (t) => {
  const { own, ping } = await someone({ sources: { by: 'query', expect: 2 } })
  await ping('?source=a')
  const before = jsonOf(await own('/sources/'))
  await own('/rules', { severity: 'info' })
  t.deepEqual(jsonOf(await own('/sources/')), before)
})

test('a secret as bearer: shown once, wrong or missing it is 401, not logged, counted', async (t) => {
  const { own, ping, set, check } = await someone()
  t.deepEqual(set, {})
  t.is((await ping()).status, 200)
  const { ping_auth: auth } = jsonOf(await own('/rules', { ping_auth: { mode: 'bearer' } }))
  const { secret } = z.object({ mode: z.literal('bearer'), secret: z.string() }).parse(auth)
  t.regex(secret, /^psk_[A-Za-z0-9_-]{32}$/)
  t.like(jsonOf(await own('/rules')), { ping_auth: { mode: 'bearer' } })
  t.false((await own('/rules')).text.includes(secret))
  const stored = JSON.stringify(await app.db('check_secrets').where({ check_id: check.id }))
  t.false(stored.includes(secret.slice(4)))
  for (const headers of [{}, { Authorization: 'Bearer psk_wrong' }, { Authorization: secret }]) {
    const answer = await ping('', { headers })
    t.deepEqual([answer.status, answer.text], [401, 'missing or wrong ping secret'])
  }
  t.is((await ping('', { headers: { Authorization: `Bearer ${secret}` } })).status, 200)
  t.like(jsonOf(await own('')), { n_pings: 2 })
  await eventually('the refusals to be counted', async () => {
    const [row] = await query<{ count: number }>(
      app.deps.db,
      "SELECT sum(count)::int AS count FROM refused_pings WHERE check_id = ? AND reason = 'secret'",
      [check.id],
    )
    return row?.count === 3
  })
  await own('/rules', { ping_auth: null })
  t.is((await ping()).status, 200)
})

test('a new secret replaces the old one, which stays valid for the requested time', async (t) => {
  const { own, ping } = await someone()
  const secretOf = async (body: object) =>
    z.object({ secret: z.string() }).parse(jsonOf(await own('/rules', { ping_auth: body })).ping_auth).secret
  const shows = async (secret: string) => (await ping('', { headers: { Authorization: `Bearer ${secret}` } })).status
  const first = await secretOf({ mode: 'bearer' })
  const second = await secretOf({ mode: 'bearer', overlap: 3600 })
  t.deepEqual([await shows(first), await shows(second)], [200, 200])
  const third = await secretOf({ mode: 'bearer' })
  t.deepEqual([await shows(first), await shows(second), await shows(third)], [401, 401, 200])
  t.like(jsonOf(await own('/rules', { ping_auth: { mode: 'basic' } })), {
    error: 'json validation error: ping_auth.mode must be one of bearer, hmac',
  })
})

test('a signature is of time, method, address and body; each of them counts', async (t) => {
  const { own, ping, check } = await someone()
  const { secret } = z
    .object({ secret: z.string() })
    .parse(jsonOf(await own('/rules', { ping_auth: { mode: 'hmac' } })).ping_auth)
  const sign = (at: number, method: string, url: string, body: string) => {
    const hash = createHash('sha256').update(body).digest('hex')
    return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${method}.${url}.${hash}`).digest('hex')}`
  }
  const now = Math.floor(Date.now() / 1000)
  const path = `/ping/${check.uuid}/fail?rid=00000000-0000-4000-8000-00000000000a`
  const tail = path.slice(`/ping/${check.uuid}`.length)
  const status = async (signature: string, body = 'all is well') =>
    (await ping(tail, { method: 'POST', body, headers: { 'X-Ping-Signature': signature } })).status
  t.is(await status(sign(now, 'POST', path, 'all is well')), 200)
  t.is(await status(sign(now, 'POST', path, 'all is well'), 'all is lost'), 401)
  t.is(await status(sign(now, 'GET', path, 'all is well')), 401)
  t.is(await status(sign(now, 'POST', `${path}0`, 'all is well')), 401)
  t.is(await status(sign(now - 301, 'POST', path, 'all is well')), 401)
  t.is(await status('t=1,v1=zz'), 401)
})

test('previews are logged as ignored where the rules require it, and count elsewhere', async (t) => {
  const headers = { 'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }
  const ignoring = await someone({ previews: 'ignore' })
  await ignoring.ping('', { headers })
  t.like(jsonOf(await ignoring.own('')), { status: 'new', n_pings: 1 })
  t.like(jsonOf(await ignoring.own('/pings/')), { pings: [{ type: 'ign' }] })
  await ignoring.ping('', { headers, method: 'POST' })
  t.like(jsonOf(await ignoring.own('')), { status: 'up' })
  const plain = await someone()
  await plain.ping('', { headers })
  t.like(jsonOf(await plain.own('')), { status: 'up' })
})

test('new checks have the defaults of the project and the settings of the first ping', async (t) => {
  const { api, project, pingKey } = await someone()
  const integration = await addIntegration(app.deps, project.id, 'ops')
  await addIntegration(app.deps, project.id, 'other')
  const { id } = jsonOf(await api('/policies/', { name: 'x', steps: [{}] }))
  t.is((await api('/provisioning', { grace: 120, tags: 'born', channels: 'ops', policy: id })).status, 200)
  t.like(jsonOf(await api('/provisioning')), { timeout: null, grace: 120, policy: id })
  const born = async (slug: string, more: string) => {
    t.is((await send(app.url, `/ping/${pingKey}/${slug}?create=1${more}`)).status, 201)
    const list = z.object({ checks: z.array(z.record(z.string(), z.unknown())) })
    return list.parse(anyJson(await api(`/checks/?slug=${slug}`))).checks[0] ?? {}
  }
  const first = await born('one', '&timeout=600&tags=a+b')
  t.like(first, { timeout: 600, grace: 120, tags: 'a b', channels: integration.uuid, name: 'one' })
  t.like(jsonOf(await api(`/checks/${first.uuid}/rules`)), { policy: id })
  t.like(await born('two', '&timeout=5&schedule=nonsense&policy=x'), { timeout: 86_400, grace: 120, tags: 'born' })
  t.like(await born('three', '&schedule=0+3+*+*+*&tz=Europe/Riga'), { schedule: '0 3 * * *', tz: 'Europe/Riga' })
  // They act on creation only.
  t.is((await send(app.url, `/ping/${pingKey}/one?create=1&timeout=900`)).status, 200)
  t.like(jsonOf(await api(`/checks/${first.uuid}`)), { timeout: 600 })
})

test('defaults at birth are checked like a check, and belong to the project', async (t) => {
  const [one, other] = [await someone(), await someone()]
  const { id } = jsonOf(await other.api('/policies/', { name: 'x', steps: [{}] }))
  t.is((await one.api('/provisioning', { policy: `${id}` })).status, 404)
  t.deepEqual(jsonOf(await one.api('/provisioning', { timeout: 1 })), {
    error: 'json validation error: timeout is too small',
  })
  t.deepEqual(jsonOf(await one.api('/provisioning', { timout: 1 })), {
    error: 'json validation error: timout is not a known member',
  })
  t.deepEqual(jsonOf(await one.api('/provisioning', { channels: 'unknown' })), {
    error: 'invalid channel identifier: unknown',
  })
})

test('a secret that cannot be opened refuses the pings of its check, and fails those of no other', async (t) => {
  const [broken, other] = [await someone({ ping_auth: { mode: 'bearer' } }), await someone()]
  await query(app.db, "UPDATE check_secrets SET sealed_secret = 'v2.damaged' WHERE check_id = ? RETURNING 1", [
    broken.check.id,
  ])
  const { secret } = z.object({ secret: z.string() }).parse(broken.set.ping_auth)
  const headers = { Authorization: `Bearer ${secret}` }
  const answers = await Promise.all([broken.ping('', { headers }), other.ping(), broken.ping()])
  t.deepEqual(
    answers.map(({ status }) => status),
    [401, 200, 401],
  )
})
