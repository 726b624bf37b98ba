import test from 'ava'
import { createBreakers } from '#shared/risk/registries/breaker.ts'
import {
  type HttpRequest,
  type IncomingResponse,
  NoAnswerError,
  type RegistryContext,
} from '#shared/risk/registries/connector.ts'
import { createRegistry, type RegistrySpec } from '#shared/risk/registries/runner.ts'
import { VirtualClock } from './virtual-clock.ts'

const START = 1_000_000

const spec: RegistrySpec<null, string> = {
  name: 'probe',
  connectorVersion: '1.0.0',
  source: 'PROBE',
  tier: 'REGISTRY_VERIFIED',
  request: () => ({ method: 'GET', url: 'https://probe.invalid/', headers: {} }),
  parse: (body) => ({ data: body.toString(), asOf: null }),
}

const answer = (status: number, body = 'x'): IncomingResponse => ({ status, headers: {}, body: Buffer.from(body) })

function context(env: 'SANDBOX' | 'PRODUCTION' = 'PRODUCTION', deadline = Number.MAX_SAFE_INTEGER): RegistryContext {
  return { env, orgId: 'o', deadline, signal: new AbortController().signal, requestId: 'r' }
}

function probe(http: HttpRequest, random = () => 0.5) {
  const clock = new VirtualClock(START)
  const registry = createRegistry(spec, { http, now: clock.now, sleep: clock.sleep, random }, createBreakers())
  return { clock, registry }
}

test('the pause before another attempt grows and has jitter', async (t) => {
  for (const [random, pauses] of [
    [0, [200, 400]],
    [0.5, [400, 800]],
    [0.999, [599.6, 1199.2]],
  ] as const) {
    const { clock, registry } = probe(
      async () => answer(500),
      () => random,
    )
    await registry.fetch(context(), null)
    t.deepEqual(
      clock.sleeps.filter((delay) => delay < 8000),
      [...pauses],
    )
  }
})

test('five failed calls open the breaker until one call succeeds', async (t) => {
  let calls = 0
  let isHealthy = false
  const { clock, registry } = probe(async () => {
    calls++
    return answer(isHealthy ? 200 : 500)
  })
  for (let call = 0; call < 5; call++) await registry.fetch(context(), null)
  t.is(calls, 15)
  const open = await registry.fetch(context(), null)
  t.deepEqual([open.status, open.missingReason, open.attempts], ['ERROR', 'UPSTREAM_ERROR', 0])
  t.is(calls, 15)

  isHealthy = true
  const elsewhere = await registry.fetch(context('SANDBOX'), null)
  t.is(elsewhere.status, 'OK')

  clock.advance(30_000)
  const [trial, second] = await Promise.all([registry.fetch(context(), null), registry.fetch(context(), null)])
  t.is(trial.status, 'OK')
  t.is(second.attempts, 0)
  t.is((await registry.fetch(context(), null)).status, 'OK')
})

test('refused and malformed responses do not open the breaker', async (t) => {
  let calls = 0
  const { registry } = probe(async () => {
    calls++
    return answer(404)
  })
  for (let call = 0; call < 8; call++) await registry.fetch(context(), null)
  t.is(calls, 8)
})

test('a late response is a timeout, and its request is aborted', async (t) => {
  const aborted: boolean[] = []
  const { clock, registry } = probe(
    (request) =>
      new Promise((_resolve, reject) => {
        request.signal.addEventListener('abort', () => {
          aborted.push(true)
          reject(new Error('aborted'))
        })
      }),
  )
  const result = await registry.fetch(context('PRODUCTION', START + 20_000), null)
  t.is(result.missingReason, 'TIMEOUT')
  t.is(result.latencyMs, clock.now() - START)
  t.is(aborted.length, 3)
  t.is(clock.now() - START, 20_000)
})

test('an error in a parser makes the response UNPARSEABLE', async (t) => {
  const clock = new VirtualClock(START)
  const throwing = {
    ...spec,
    parse() {
      throw new TypeError('unexpected')
    },
  }
  const deps = { http: async () => answer(200), now: clock.now, sleep: clock.sleep, random: () => 0 }
  const result = await createRegistry(throwing, deps, createBreakers()).fetch(context(), null)
  t.is(result.missingReason, 'UNPARSEABLE')
})

for (const [failure, fail] of [
  ['a 5xx', async () => answer(503)],
  ['a failed connection', async () => Promise.reject(new NoAnswerError('connection'))],
  ['a time-out', async () => Promise.reject(new NoAnswerError('timeout'))],
] as const) {
  test(`five times ${failure} opens the breaker only of the calling organisation`, async (t) => {
    let calls = 0
    const { registry } = probe(async () => {
      calls += 1
      return await fail()
    })
    for (let call = 0; call < 5; call++) await registry.fetch(context(), null)
    const before = calls
    t.is((await registry.fetch(context(), null)).attempts, 0)
    t.is(calls, before)
    t.true((await registry.fetch({ ...context(), orgId: 'other' }, null)).attempts > 0)
  })
}

test('a request that cannot be built or sent opens no breaker', async (t) => {
  let calls = 0
  const { registry } = probe(async () => {
    calls += 1
    throw new TypeError('Invalid character in header content ["x-consent-handle"]')
  })
  for (let call = 0; call < 20; call++) {
    const result = await registry.fetch(context(), null)
    t.deepEqual([result.status, result.missingReason], ['ERROR', 'UPSTREAM_ERROR'])
  }
  t.is(calls, 20)

  const clock = new VirtualClock(START)
  const unbuildable: RegistrySpec<boolean, string> = {
    ...spec,
    parse: (body) => ({ data: body.toString(), asOf: null }),
    request(isBuildable) {
      if (!isBuildable) throw new URIError('URI malformed')
      return { method: 'GET', url: 'https://probe.invalid/', headers: {} }
    },
  }
  const deps = { http: async () => answer(200), now: clock.now, sleep: clock.sleep, random: () => 0 }
  const second = createRegistry(unbuildable, deps, createBreakers())
  for (let call = 0; call < 20; call++) t.is((await second.fetch(context(), false)).attempts, 0)
  t.is((await second.fetch(context(), true)).status, 'OK')
})

test('a registry with a shortened timeout does not open its breaker', async (t) => {
  let calls = 0
  const { clock, registry } = probe(() => {
    calls += 1
    return new Promise(() => {})
  })
  for (let call = 0; call < 10; call++) {
    t.is((await registry.fetch(context('PRODUCTION', clock.now() + 1000), null)).missingReason, 'TIMEOUT')
  }
  t.true(calls >= 10)
})
