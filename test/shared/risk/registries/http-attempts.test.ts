import test from 'ava'
import { createBreakers } from '#shared/risk/registries/breaker.ts'
import type { RegistryResult } from '#shared/risk/registries/connector.ts'
import { createRegistrySet } from '#shared/risk/registries/registry-set.ts'
import { against, asks, consent, context, realTime, START, tradeData } from './against-gateway.ts'
import { type Answer, ok } from './recording-gateway.ts'
import { VirtualClock } from './virtual-clock.ts'

// Shortens the pauses between attempts; the responses are those of the server.
const quick = { now: () => START, sleep: (_ms: number, signal: AbortSignal) => realTime.sleep(5000, signal) }
const noPause = (clock: typeof realTime) => ({
  ...clock,
  sleep: (delayMs: number, signal: AbortSignal) => (delayMs < 2000 ? Promise.resolve() : quick.sleep(delayMs, signal)),
})

test('a failing registry is queried three times', async (t) => {
  const failing: Answer = { status: 503, body: '{"code":"NOT_FOUND"}' }
  const recovered = await against([failing, failing, ok(tradeData)], asks.tradeReturns, noPause(realTime))
  t.is(recovered.result.status, 'OK')
  t.is(recovered.result.attempts, 3)
  const failed = await against([failing], asks.tradeReturns, noPause(realTime))
  t.is(failed.result.status, 'ERROR')
  t.is(failed.result.missingReason, 'UPSTREAM_ERROR')
  t.is(failed.requests.length, 3)
})

test('a broken connection is an upstream error without another attempt', async (t) => {
  const { result, requests } = await against(['RESET'], asks.taxpayerStatus, realTime)
  t.is(result.missingReason, 'UPSTREAM_ERROR')
  t.is(result.rawSha256, null)
  t.is(requests.length, 1)
})

test('a registry that never responds times out within the budget', async (t) => {
  const clock = new VirtualClock(START)
  const { result } = await against(['HANG'], asks.taxpayerStatus, clock)
  t.is(result.status, 'MISSING')
  t.is(result.missingReason, 'TIMEOUT')
  t.true(clock.now() - START <= 20_000)
  t.is(clock.sleeps[0], 15_000)
})

test('no registry is contacted without live consent or after the budget', async (t) => {
  const { consent: _consent, ...bare } = context()
  const expired = context({ consent: { ...consent, expiresAt: '2026-11-21T06:30:00.000Z' } })
  for (const [ctx, reason] of [
    [bare, 'NO_CONSENT'],
    [expired, 'CONSENT_EXPIRED'],
    [context({ deadline: START }), 'TIMEOUT'],
    [context({ signal: AbortSignal.abort() }), 'TIMEOUT'],
  ] as const) {
    const { result, requests } = await against([ok(tradeData)], (set) => asks.tradeReturns(set, ctx), realTime)
    t.is(result.missingReason, reason)
    t.is(requests.length, 0)
  }
})

for (const [name, ask] of Object.entries(asks)) {
  test(`an unconfigured ${name} is MISSING/NOT_ENTITLED`, async (t) => {
    const http = () => Promise.reject(new Error('nothing may be contacted'))
    const set = createRegistrySet({}, { http, random: () => 0.5, ...realTime }, createBreakers())
    const result: RegistryResult<unknown> = await ask(set)
    t.is(result.status, 'MISSING')
    t.is(result.missingReason, 'NOT_ENTITLED')
    t.is(result.attempts, 0)
  })
}
