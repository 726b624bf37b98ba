import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { NoAnswerError } from '#shared/risk/registries/connector.ts'
import type { CallLine } from '../../examples/registry-gateway/calls.ts'
import { composeGateway, healthOf, notifySecretOf } from '../../examples/registry-gateway/compose.ts'
import { createGatewayServer } from '../../examples/registry-gateway/server.ts'
import { loadSettings } from '../../examples/registry-gateway/settings.ts'
import { derivedKey, memoryStore, openStore } from '../../examples/registry-gateway/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { answerTo, type Exchange, replayed, type Sample, sampleEnv, sampleOf } from './registry-gateway-samples.ts'

const key = derivedKey(Buffer.alloc(32, 7), 'state')
const HANDLE = 'gwc_4Q2M7Z5K3J6N2P7T4V6X3B5D7F'

test('state is sealed, bound to its name, and used by one process', (t) => {
  const folder = temporaryFolder('gateway-state')
  {
    using store = openStore(folder, key)
    store.write('a', { pan: 'AAACR5678D' })
    t.deepEqual(store.read('a'), { pan: 'AAACR5678D' })
    t.throws(() => openStore(folder, key), { message: /in use by process/ })
  }
  t.false(readFileSync(join(folder, 'a.sealed')).includes('AAACR5678D'))
  writeFileSync(join(folder, 'b.sealed'), readFileSync(join(folder, 'a.sealed')))
  t.throws(() => openStore(folder, key), { message: /cannot be read with this GATEWAY_KEY/ })
  t.deepEqual(readdirSync(folder).sort(), ['a.sealed', 'b.sealed'], 'no lock is left')
})

/** A gateway over HTTP in front of the recorded answers of a sample. */
async function served(sample: Sample, store?: Parameters<typeof replayed>[1]) {
  const { composition, clock, faults } = replayed(sample, store)
  const settings = loadSettings(sampleEnv)
  const server = createGatewayServer({
    gateway: composition.gateway,
    token: settings.GATEWAY_TOKEN,
    adminToken: settings.GATEWAY_ADMIN_TOKEN,
    leiPath: settings.GATEWAY_LEI_PATH,
    admin: async (request) => await composition.consented?.api.handle(request),
    health: async () => healthOf(composition, clock.nowMs),
    metrics: () => composition.metrics.registry.metrics(),
    isWritable: () => true,
    fault: (error) => void faults.push(error),
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A server on a TCP port has an address object.
  const { port } = server.address() as AddressInfo
  const base = `http://127.0.0.1:${port}`
  const call = async (path: string, token: string | null = settings.GATEWAY_TOKEN, init: RequestInit = {}) => {
    const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...init.headers }
    const response = await fetch(`${base}${path}`, { ...init, headers })
    const text = await response.text()
    return { status: response.status, text }
  }
  return {
    call,
    port,
    composition,
    clock,
    admin: settings.GATEWAY_ADMIN_TOKEN,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

test('the server checks tokens, paths, methods and parameters', async (t) => {
  await using gateway = await served(sampleOf('gleif', 'good'))
  const { call, admin } = gateway
  const refused = { status: 401, text: '{"code":"NOT_ENTITLED"}' }
  t.deepEqual(await call('/taxpayers/29AAACR5678D1Z5', null), refused)
  t.deepEqual(await call('/taxpayers/29AAACR5678D1Z5', admin), refused)
  t.deepEqual(await call('/health'), refused)
  t.deepEqual(await call('/no-such-operation'), { status: 404, text: '{"code":"NOT_FOUND"}' })
  const [unusual] = await once(get({ port: gateway.port, path: '//' }), 'response')
  t.is(unusual.resume().statusCode, 404)
  t.is((await call('/companies', undefined, { method: 'POST', body: '{}' })).status, 405)
  t.deepEqual(await call('/groups'), { status: 422, text: '{"code":"UNPARSEABLE"}' })
  for (const path of ['/establishments?pan=AAACR5678D', '/exporter-codes/AAACR5678D', '/companies?pan=AAACR5678D'])
    t.deepEqual(await call(path), { status: 403, text: '{"code":"NOT_ENTITLED"}' }, path)
  t.is((await call('/healthz', null)).status, 200)
  t.regex((await call('/metrics', null)).text, /gateway_answers_total\{operation="\/companies",code="NOT_ENTITLED"\} 1/)
})

test('a body is read only after the caller is authenticated', async (t) => {
  await using gateway = await served(sampleOf('gleif', 'good'))
  const large = { method: 'POST', body: 'x'.repeat(100 * 1024) }
  const paths = ['/searches/persons', '/consents', `/notify/${'0'.repeat(64)}`]
  const statuses = await Promise.all(paths.map(async (path) => (await gateway.call(path, 'x', large)).status))
  t.deepEqual(statuses, [401, 401, 404])
  t.is((await gateway.call('/searches/persons', undefined, large)).status, 413)
})

test('LEI records are served without a token below their secret path only', async (t) => {
  await using gateway = await served(sampleOf('gleif', 'good'))
  const record = '/lei-records/999900SYNTHBORROWR09'
  t.is((await gateway.call(`/lei/ffffffffffffffffffffffffffffffff${record}`, null)).status, 401)
  t.is((await gateway.call(`/lei/${sampleEnv.GATEWAY_LEI_PATH}${record}`, null)).status, 200)
  // Held for eight hours; another call is not recorded.
  t.is((await gateway.call(record)).status, 200)
  t.is((await gateway.call(`${record}?page[size]=1`)).status, 404)
})

const consentId = '5b7f0c1e-2a34-4c56-8d78-9e0f1a2b3c4d'

function exchange(method: string, path: string, status: number, body: unknown): Exchange {
  return {
    request: { method, url: `https://fiu.setu.co/v2${path}` },
    response: { status, headers: { 'content-type': 'application/json' }, body },
  }
}

/** The exchanges of sample good, with those of a new consent in front and of its revocation behind. */
function lifecycle(): Sample {
  const good = sampleOf('setu', 'good')
  const [login, confirmed, session, delivered] = good.exchanges
  if (!login || !confirmed || !session || !delivered) throw new Error('the sample has four exchanges')
  const pending = { ...Object(confirmed.response.body), status: 'PENDING' }
  const reading = `/consents/${consentId}?expanded=true`
  return {
    ...good,
    exchanges: [
      login,
      exchange('POST', '/consents', 201, {
        id: consentId,
        url: 'https://fiu.setu.co/v2/consents/webview/1',
        status: 'PENDING',
      }),
      exchange('GET', reading, 200, pending),
      confirmed,
      session,
      delivered,
      exchange('POST', `/consents/${consentId}/revoke`, 200, {}),
    ],
  }
}

const json = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) })
const subject = { pan: 'AAACR5678D', gstins: ['29AAACR5678D1Z5'] }
const wanted = { ...subject, mobile: '9999999999', for: ['deposits'], redirectUrl: 'https://lender.example/done' }

test('a consent is created, followed, used and revoked, and its data is then gone', async (t) => {
  const folder = temporaryFolder('gateway-consents')
  using store = openStore(folder, key)
  const { consent: _adopted, ...sample } = lifecycle()
  await using gateway = await served(sample, store)
  const { call, admin, clock, composition } = gateway
  t.is((await call('/consents', undefined, json(wanted))).status, 401)
  const wrong = await call('/consents', admin, json({ ...wanted, mobile: '123' }))
  t.deepEqual(wrong, { status: 400, text: '{"problem":"mobile must be a mobile number of 10 digits"}' })
  const made = JSON.parse((await call('/consents', admin, json(wanted))).text)
  t.regex(made.handle, /^gwc_[A-Z2-7]{26}$/)
  t.is(made.status, 'PENDING')
  const status = async () => JSON.parse((await call(`/consents/${made.handle}`, admin)).text).status
  await composition.consented?.tick()
  t.is(await status(), 'PENDING')
  clock.nowMs += 30_000
  await composition.consented?.tick()
  t.is(await status(), 'READY')

  const request = `/accounts/deposits?${new URLSearchParams(sample.request.query)}`
  const used = (handle: string, id: string) =>
    call(request, undefined, { headers: { 'x-consent-handle': handle, 'x-request-id': id, 'x-organisation': 'one' } })
  t.is((await used(made.handle, 'r1')).status, 200)
  t.is((await used(HANDLE, 'r2')).text, '{"code":"NO_CONSENT"}')
  const foreign = await call(request, undefined, {
    headers: { 'x-consent-handle': made.handle, 'x-request-id': 'r3', 'x-organisation': 'two' },
  })
  t.is(foreign.text, '{"code":"NO_CONSENT"}', 'the handle belongs to the first organisation')
  const joined = await call('/consents/join', admin, json({ handles: [made.handle, HANDLE] }))
  t.is(joined.text, '{"code":"NO_CONSENT"}', 'an unknown handle cannot be joined')

  const files = () => readdirSync(folder).map((file) => readFileSync(join(folder, file)).length)
  const before = Math.max(...files())
  t.deepEqual(await call(`/consents/${made.handle}`, admin, { method: 'DELETE' }), {
    status: 200,
    text: '{"status":"REVOKED"}',
  })
  t.is((await used(made.handle, 'r1')).text, '{"code":"CONSENT_REVOKED"}', 'kept answers are dropped')
  t.true(Math.max(...files()) < before / 2, 'the state holds no account')
})

test('a notification is a hint, after which the consent itself is read', async (t) => {
  const { consent: _adopted, ...sample } = lifecycle()
  const [login, created, _pending, ...rest] = sample.exchanges
  if (!login || !created) throw new Error('the sample has seven exchanges')
  await using gateway = await served({ ...sample, exchanges: [login, created, ...rest] })
  const { call, admin } = gateway
  const made = JSON.parse((await call('/consents', admin, json(wanted))).text)
  const hint = json({ type: 'CONSENT_STATUS_UPDATE', consentId, data: { status: 'REJECTED' } })
  t.is((await call('/notify/0123', null, hint)).status, 404)
  t.is((await call(`/notify/${notifySecretOf(loadSettings(sampleEnv))}`, null, hint)).status, 200)
  t.is((await call(`/consents/${made.handle}`, admin)).text, '{"status":"READY"}')
})

test('a provider that is silent or unreachable gives a timeout or an outage', async (t) => {
  const sample = sampleOf('gleif', 'good')
  for (const [kind, status, code] of [
    ['timeout', 408, 'TIMEOUT'],
    ['connection', 502, 'UPSTREAM_ERROR'],
  ] as const) {
    const outcomes: string[] = []
    const deps = {
      http: () => Promise.reject(new NoAnswerError(kind)),
      now: () => Date.parse(sample.now),
      sleep: async () => {},
      report: (line: CallLine) => void outcomes.push(line.code),
    }
    const answer = await answerTo(sample, composeGateway(loadSettings(sampleEnv), deps, { store: memoryStore() }))
    t.deepEqual([answer.status, answer.body.toString()], [status, `{"code":"${code}"}`])
    t.deepEqual(outcomes, [code])
  }
})

test('data is deleted at the end of its life, and the consent then reads as expired', async (t) => {
  const sample = sampleOf('setu', 'good')
  const { composition, clock } = replayed(sample)
  t.is((await answerTo(sample, composition)).status, 200)
  clock.nowMs += 7 * 86_400_000
  await composition.consented?.tick()
  t.is(composition.consented?.consents.all()[0]?.record.held, null)
  const late = await answerTo(sample, composition, 'pack-2')
  t.deepEqual([late.status, late.body.toString()], [403, '{"code":"CONSENT_EXPIRED"}'])
})

test('a silent aggregator is tolerated for an hour after a confirmation', async (t) => {
  const sample = sampleOf('setu', 'good')
  const down = exchange('GET', `/consents/${consentId}?expanded=true`, 503, {})
  const { composition, clock } = replayed({ ...sample, exchanges: [...sample.exchanges, down, down] })
  t.is((await answerTo(sample, composition, 'first')).status, 200)
  clock.nowMs += 20 * 60_000
  t.is((await answerTo(sample, composition, 'second')).status, 200)
  clock.nowMs += 45 * 60_000
  t.is((await answerTo(sample, composition, 'third')).status, 502)
})

test('an outage of a provider is a reason, and makes the adapter unhealthy after five requests', async (t) => {
  const sample = sampleOf('sandbox', 'source-down')
  const [authenticate, search] = sample.exchanges
  if (!authenticate || !search) throw new Error('the sample has two exchanges')
  const { composition, clock } = replayed({
    ...sample,
    exchanges: [authenticate, search, search, search, search, search],
  })
  for (let request = 1; request <= 5; request++) {
    const answer = await answerTo(sample, composition, `pack-${request}`)
    t.deepEqual([answer.status, answer.body.toString()], [502, '{"code":"UPSTREAM_ERROR"}'])
  }
  t.like(healthOf(composition, clock.nowMs), {
    adapters: { sandbox: { configured: true, isFailing: true, lastFailure: { code: 'UPSTREAM_ERROR' } } },
  })
})

test('a test environment of a provider marks its answers', async (t) => {
  const sample = sampleOf('sandbox', 'good')
  const [authenticate, search] = sample.exchanges
  const settings = loadSettings({ ...sampleEnv, SANDBOX_URL: 'https://test-api.sandbox.co.in' })
  let next = 0
  const http = async () => {
    const { response } = (next++ === 0 ? authenticate : search) ?? { response: { status: 500, headers: {} } }
    return { ...response, body: Buffer.from(JSON.stringify('body' in response ? response.body : {})) }
  }
  const deps = { http, now: () => Date.parse(sample.now), sleep: async () => {}, report: () => {} }
  using store = openStore(temporaryFolder('gateway-test-environment'), key)
  const answer = await answerTo(sample, composeGateway(settings, deps, { store }))
  t.is(JSON.parse(answer.body.toString()).environment, 'TEST')
})

test('logs, refusals, health, metrics and state hold no secret and no identifier', async (t) => {
  const folder = temporaryFolder('gateway-secrets')
  using store = openStore(folder, key)
  const lines: string[] = []
  const secrets = [
    ...Object.values(sampleEnv),
    'AAACR5678D',
    'synthetic-token',
    'SYNTHETIC',
    HANDLE,
    '9999999999',
    'XXXXXX4373',
  ].filter((secret) => secret.length > 6 && !secret.startsWith('http'))
  for (const [provider, name] of [
    ['sandbox', 'good'],
    ['sandbox', 'no-credits'],
    ['setu', 'good'],
    ['companies-house', 'unauthorised'],
  ] as const) {
    const sample = sampleOf(provider, name)
    const { composition, clock } = replayed(sample, store, (line) => void lines.push(JSON.stringify(line)))
    const answer = await answerTo(sample, composition)
    if (answer.status !== 200) lines.push(answer.body.toString())
    lines.push(JSON.stringify(healthOf(composition, clock.nowMs)), await composition.metrics.registry.metrics())
  }
  for (const file of readdirSync(folder)) lines.push(file, readFileSync(join(folder, file)).toString('latin1'))
  t.true(lines.length > 10)
  for (const secret of secrets) t.false(lines.join('\n').includes(secret), secret)
})
