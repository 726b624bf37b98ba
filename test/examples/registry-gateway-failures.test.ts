import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { NoAnswerError } from '#shared/risk/registries/connector.ts'
import type { GatewayRequest } from '../../examples/registry-gateway/adapter.ts'
import type { AnswerLine, CallLine, Work } from '../../examples/registry-gateway/calls.ts'
import { createAccessToken } from '../../examples/registry-gateway/calls.ts'
import { composeGateway, healthOf, notifySecretOf } from '../../examples/registry-gateway/compose.ts'
import { createGateway } from '../../examples/registry-gateway/gateway.ts'
import { createGatewayServer } from '../../examples/registry-gateway/server.ts'
import { loadSettings } from '../../examples/registry-gateway/settings.ts'
import { derivedKey, memoryStore, openStore } from '../../examples/registry-gateway/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { answerTo, type Exchange, replayed, type Sample, sampleEnv, sampleOf } from './registry-gateway-samples.ts'

/** The good answer about a registration with changed members of the provider. */
function changedSearch(members: object): Sample {
  const good = sampleOf('sandbox', 'good')
  return {
    ...good,
    exchanges: good.exchanges.map((exchange) => {
      if (!exchange.request.url.endsWith('/gstin/search')) return exchange
      const body = structuredClone(Object(exchange.response.body))
      Object.assign(body.data.data, members)
      return { ...exchange, response: { ...exchange.response, body } }
    }),
  }
}

const causes: [cause: string, sample: Sample, status: number, code: string, member: string | null][] = [
  ['an outage', sampleOf('sandbox', 'source-down'), 502, 'UPSTREAM_ERROR', null],
  ['the limit of the provider', sampleOf('sandbox', 'rate-limited'), 429, 'UPSTREAM_ERROR', null],
  ['an answer that is not JSON', sampleOf('sandbox', 'malformed'), 422, 'UNPARSEABLE', null],
  ['a member of another type', changedSearch({ rgdt: 7 }), 422, 'UNPARSEABLE', 'data.rgdt'],
  ['an empty name', changedSearch({ lgnm: ' ' }), 422, 'UNPARSEABLE', 'data.lgnm'],
  ['an unknown word', sampleOf('sandbox', 'unknown-status'), 422, 'UNPARSEABLE', 'data.sts'],
  ['an answer about another subject', sampleOf('sandbox', 'other-gstin'), 422, 'UNPARSEABLE', 'data.gstin'],
  ['an expired token and refused credentials', sampleOf('sandbox', 'no-credits'), 403, 'NOT_ENTITLED', null],
  ['a token that expired once', sampleOf('sandbox', 'token-expired'), 200, 'OK', null],
]

for (const [cause, sample, status, code, member] of causes) {
  test(`${cause} is ${status} ${code}, with a log line and a metric`, async (t) => {
    const calls: CallLine[] = []
    const answers: AnswerLine[] = []
    const { composition } = replayed(
      sample,
      memoryStore(),
      (line) => void calls.push(line),
      (line) => void answers.push(line),
    )
    t.is((await answerTo(sample, composition)).status, status)
    const line = { adapter: 'sandbox', operation: '/taxpayers/{gstin}', status, code, member, requestId: 'pack-1' }
    t.like(answers, [line])
    t.is(calls.length, sample.exchanges.length)
    const metrics = await composition.metrics.registry.metrics()
    t.true(metrics.includes(`gateway_answers_total{operation="/taxpayers/{gstin}",code="${code}"} 1`), metrics)
    t.regex(metrics, /gateway_upstream_seconds_count\{adapter="sandbox",outcome="\w+"\} \d/)
    const logged = JSON.stringify([calls, answers])
    for (const secret of [/29AAACR5678D1Z5/, /SYNTHETIC/i, /synthetic-token/]) t.notRegex(logged, secret)
  })
}

test('a slow provider is a timeout, also while the access token is fetched', async (t) => {
  const sample = sampleOf('sandbox', 'good')
  const answers: AnswerLine[] = []
  const deps = {
    http: () => Promise.reject(new NoAnswerError('timeout')),
    now: () => Date.parse(sample.now),
    sleep: async () => {},
    report: () => {},
  }
  const options = { store: memoryStore(), answered: (line: AnswerLine) => void answers.push(line) }
  const answer = await answerTo(sample, composeGateway(loadSettings(sampleEnv), deps, options))
  t.deepEqual([answer.status, answer.body.toString()], [408, '{"code":"TIMEOUT"}'])
  t.like(answers, [{ status: 408, code: 'TIMEOUT' }])
})

test('a request does not wait for the access token of one with a later deadline', async (t) => {
  const deadlines: number[] = []
  const token = createAccessToken(
    async ({ deadline }) => {
      deadlines.push(deadline)
      return await new Promise<string>((resolve) => deadline === 50 && resolve('second'))
    },
    { lifeMs: 1000, renewOn: [401] },
  )
  const deps = {
    http: () => Promise.reject(new Error('no call')),
    now: () => 0,
    sleep: async () => {},
    report: () => {},
  }
  const work = (deadline: number): Work => ({ deps, operation: '/x', requestId: 'r', deadline, upstream: [] })
  const used: string[] = []
  const call = async (given: string) => {
    used.push(given)
    return { status: 200, headers: {}, body: Buffer.alloc(0) }
  }
  void token.use(work(100), call)
  await token.use(work(50), call)
  t.deepEqual([deadlines, used], [[100, 50], ['second']])
})

test('a refusal without a call of the provider does not make its adapter unhealthy', async (t) => {
  const sample = sampleOf('sandbox', 'companies-no-number')
  const { composition, clock } = replayed(sample)
  for (let request = 1; request <= 5; request++) {
    t.is((await answerTo(sample, composition, `pack-${request}`)).status, 403)
  }
  t.like(healthOf(composition, clock.nowMs), { adapters: { sandbox: { isFailing: false, lastFailure: null } } })
})

/** The sample of a British company with a changed profile or list of officers. */
function changedCompany(part: RegExp, change: (body: Record<string, unknown>) => object): Sample {
  const good = sampleOf('companies-house', 'good')
  const changed = (exchange: Exchange): Exchange => {
    const body = { ...Object(exchange.response.body), ...change(Object(exchange.response.body)) }
    return part.test(exchange.request.url) ? { ...exchange, response: { ...exchange.response, body } } : exchange
  }
  return { ...good, exchanges: good.exchanges.map(changed) }
}

async function dataOf(sample: Sample): Promise<Record<string, unknown>> {
  const { composition } = replayed(sample)
  const answer = await answerTo(sample, composition)
  return JSON.parse(answer.body.toString()).data
}

test('a post-office box in the address of a company is left out of its hash', async (t) => {
  const withBox = changedCompany(/\/company\/\d+$/, ({ registered_office_address: office }) => ({
    registered_office_address: { ...Object(office), po_box: '12', care_of: 'A person', premises: '1' },
  }))
  t.is((await dataOf(withBox)).addressHash, (await dataOf(sampleOf('companies-house', 'good'))).addressHash)
})

test('a company without directors does not claim that it shares none', async (t) => {
  const partnership = changedCompany(/\/officers/, () => ({ items: [], total_results: 0 }))
  const { directorIds, notCompared } = await dataOf(partnership)
  t.deepEqual([directorIds, notCompared], [[], ['HOLDING', 'BANK_ACCOUNT', 'PHONE', 'EMAIL', 'DIRECTOR']])
})

test('revoking deletes data and kept answers, although the aggregator does not answer', async (t) => {
  const sample = sampleOf('setu', 'good')
  const consentId = sample.consent?.members[0]?.consentId
  const down: Exchange = {
    request: { method: 'POST', url: `https://fiu.setu.co/v2/consents/${consentId}/revoke` },
    response: { status: 503, headers: {}, body: {} },
  }
  const { composition, differences } = replayed({ ...sample, exchanges: [...sample.exchanges, down] })
  t.is((await answerTo(sample, composition)).status, 200)
  const revoked = await composition.consented?.api.handle({
    ...{ method: 'DELETE', path: `/consents/${sample.consent?.handle}`, isAdmin: true, organisation: null },
    readBody: async () => '',
  })
  t.is(revoked?.status, 502)
  t.is(composition.consented?.consents.all()[0]?.record.held, null)
  const repeated = await answerTo(sample, composition)
  t.deepEqual([repeated.status, repeated.body.toString()], [403, '{"code":"CONSENT_EXPIRED"}'])
  t.deepEqual(differences, [])
})

test('a handle may name two consents of one taxpayer, one for each type of data', async (t) => {
  const { consent, ...sample } = sampleOf('setu', 'good')
  const [member] = consent?.members ?? []
  if (!member) throw new Error('the sample has a consent')
  const { composition, clock, differences } = replayed(sample)
  const consents = composition.consented?.consents
  const created = { pan: member.pan, gstins: member.gstins, organisation: null, nowMs: clock.nowMs }
  const returns = consents?.create({ ...created, consentId: 'returns-only', fiTypes: ['GSTR1_3B'] }) ?? ''
  const deposits = consents?.create({ ...created, consentId: member.consentId, fiTypes: ['DEPOSIT'] }) ?? ''
  const handle = consents?.join([returns, deposits], null) ?? null
  const { method, path, query } = sample.request
  const request: GatewayRequest = { method, path, query, handle, organisation: null }
  t.is((await composition.gateway.answer(request, 'r1', '')).status, 200)
  t.deepEqual(differences, [])
})

test('the lock of an earlier process with the same id is taken over', (t) => {
  const folder = temporaryFolder('gateway-lock')
  writeFileSync(join(folder, 'lock'), `${process.pid} 1`)
  using store = openStore(folder, derivedKey(Buffer.alloc(32, 7), 'state'))
  store.write('a', 1)
  t.is(store.read('a'), 1)
  t.throws(() => openStore(folder, derivedKey(Buffer.alloc(32, 7), 'state')), { message: /in use by process/ })
})

test('kept answers end when the aggregator reports a revocation', async (t) => {
  const sample = sampleOf('setu', 'good')
  const state = sample.exchanges.find(({ request }) => request.url.includes('/consents/'))
  if (!state) throw new Error('the sample reads the consent')
  const revoked = {
    ...state,
    response: { ...state.response, body: { ...Object(state.response.body), status: 'REVOKED' } },
  }
  const { composition } = replayed({ ...sample, exchanges: [...sample.exchanges, revoked] })
  t.is((await answerTo(sample, composition)).status, 200)
  const hint = JSON.stringify({ consentId: sample.consent?.members[0]?.consentId })
  await composition.consented?.api.handle({
    ...{
      method: 'POST',
      path: `/notify/${notifySecretOf(loadSettings(sampleEnv))}`,
      isAdmin: false,
      organisation: null,
    },
    readBody: async () => hint,
  })
  t.is((await answerTo(sample, composition)).body.toString(), '{"code":"CONSENT_REVOKED"}')
})

test('a fault with one consent does not stop the others', async (t) => {
  const memory = memoryStore()
  let broken: string | undefined
  const store = {
    ...memory,
    write(name: string, value: unknown) {
      if (name === broken) throw new TypeError('the state cannot be written')
      memory.write(name, value)
    },
  }
  const followed: string[] = []
  const deps = {
    http: async ({ url }: { url: string }) => {
      followed.push(url)
      return await Promise.reject(new NoAnswerError('connection'))
    },
    ...{ now: () => 1000, sleep: async () => {}, report: () => {} },
  }
  const { consented } = composeGateway(loadSettings(sampleEnv), deps, { store })
  for (const consentId of ['first', 'second'])
    consented?.consents.create({ pan: 'AAACR5678D', gstins: [], organisation: null, consentId, nowMs: 0 })
  ;[broken] = memory.names()
  await t.throwsAsync(async () => await consented?.tick(), { instanceOf: TypeError })
  t.is(followed.length, 2)
  t.is(consented?.consents.byId('second')?.record.nextAt, 31_000)
})

test('a fault of the gateway is 500, counted and reported', async (t) => {
  const faults: unknown[] = []
  const counted: string[] = []
  const fault = (error: unknown) => void faults.push(error)
  const gateway = createGateway({
    adapters: [
      {
        ...{ name: 'broken', operations: ['/companies'], mappings: {} },
        answer: () => Promise.reject(new TypeError('of an adapter')),
        health: () => ({ placesLeft: 0, tokenUntil: null }),
      },
    ],
    deps: { http: () => Promise.reject(new Error('no call')), now: () => 0, sleep: async () => {}, report: () => {} },
    count: (operation, code) => void counted.push(`${operation} ${code}`),
    fault,
  })
  const server = createGatewayServer({
    gateway,
    ...{ token: 'a', adminToken: 'b', leiPath: undefined, fault },
    admin: () => Promise.reject(new TypeError('of the consents')),
    health: async () => ({}),
    metrics: async () => '',
    isWritable: () => true,
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => void server.close())
  // A server on a TCP port has an address object.
  const { port } = server.address() as AddressInfo
  for (const path of ['/companies?pan=AAACR5678D', '/consents']) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: 'Bearer a' } })
    t.deepEqual([answer.status, await answer.text()], [500, '{}'])
  }
  t.deepEqual(counted, ['/companies 500'])
  t.is(faults.length, 2)
})

test('a member of a bank that differs is named with each answer that lacks its data', async (t) => {
  const sample = sampleOf('setu', 'malformed')
  const answers: AnswerLine[] = []
  const { composition } = replayed(
    sample,
    memoryStore(),
    () => {},
    (line) => void answers.push(line),
  )
  t.is((await answerTo(sample, composition)).status, 422)
  t.like(answers, [{ adapter: 'setu', code: 'UNPARSEABLE' }])
  t.regex(answers[0]?.member ?? '', /^(summary|transactions?|profile)\./)
})
