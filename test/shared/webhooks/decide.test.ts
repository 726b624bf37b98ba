import test from 'ava'
import { closedBreaker } from '#shared/delivery/circuit-breaker.ts'
import { delivered, type Outcome, permanent, temporary } from '#shared/delivery/outcome.ts'
import { decide } from '#shared/webhooks/decide.ts'
import type { EndpointHealth } from '#shared/webhooks/endpoint.ts'
import { filtersMatching, isEventFilter } from '#shared/webhooks/event-types.ts'
import { pausedUntil, slotsOf } from '#shared/webhooks/slots.ts'

const SECOND = 1_000_000
const HOUR = 3600 * SECOND
const at = 1_800_000_000 * SECOND
const healthy: EndpointHealth = {
  state: 'ACTIVE',
  reason: null,
  breaker: closedBreaker,
  failures: 0,
  failingSince: null,
  lastSuccessAt: null,
}
const serverError = temporary('Received status code 500', { failure: 'status' })

function after(outcome: Outcome, over: { health?: Partial<EndpointHealth>; attemptInSchedule?: number } = {}) {
  return decide(
    { ...healthy, ...over.health },
    { outcome, attemptInSchedule: over.attemptInSchedule ?? 1, random: 0.5, at },
  )
}

const schedule = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
for (const [index, seconds] of schedule.entries()) {
  test(`failed attempt ${index + 1} is repeated after ${seconds} seconds`, (t) => {
    const { delivery, nextAttemptAt } = after(serverError, { attemptInSchedule: index + 1 })
    t.is(delivery, 'PENDING')
    t.is(nextAttemptAt, at + seconds * SECOND)
  })
}

test('the tenth failed attempt exhausts the schedule', (t) => {
  t.is(after(serverError, { attemptInSchedule: 10 }).delivery, 'EXHAUSTED')
})

test('Retry-After lengthens the delay of a webhook up to a day', (t) => {
  const tooManyRequests = (retryAfterSeconds: number) => temporary('429', { failure: 'status', retryAfterSeconds })
  t.is(after(tooManyRequests(3600)).nextAttemptAt, at + HOUR)
  t.is(after(tooManyRequests(1)).nextAttemptAt, at + 5 * SECOND)
  t.is(after(tooManyRequests(1_000_000)).nextAttemptAt, at + 24 * HOUR)
})

test('a success resets the failures of an endpoint', (t) => {
  const { delivery, health } = after(delivered, { health: { failures: 7, failingSince: at - HOUR } })
  t.is(delivery, 'DELIVERED')
  t.deepEqual([health.failures, health.failingSince, health.lastSuccessAt], [0, null, at])
})

test('status 410 disables the endpoint', (t) => {
  const { delivery, health } = after(permanent('410', { failure: 'status' }))
  t.deepEqual([delivery, health.state, health.reason], ['FAILED', 'DISABLED_FAILING', 'GONE'])
})

test('a forbidden address blocks the endpoint', (t) => {
  const { delivery, health } = after(temporary('private', { failure: 'blocked' }))
  t.deepEqual([delivery, health.state, health.reason], ['FAILED', 'BLOCKED', 'ADDRESS'])
})

for (const failure of ['dns', 'connect', 'tls', 'timeout', 'reset', 'protocol'] as const) {
  test(`a failure of class ${failure} is retried`, (t) => {
    const { delivery, health } = after(temporary('no answer', { failure }))
    t.deepEqual([delivery, health.state], ['PENDING', 'ACTIVE'])
  })
}

const longFailing = [
  { hours: 120, failures: 19, state: 'DISABLED_FAILING' },
  { hours: 120, failures: 18, state: 'ACTIVE' },
  { hours: 119, failures: 500, state: 'ACTIVE' },
] as const
for (const { hours, failures, state } of longFailing) {
  test(`after ${hours} hours and ${failures + 1} failures without a success an endpoint is ${state}`, (t) => {
    const { health } = after(serverError, { health: { failures, failingSince: at - hours * HOUR } })
    t.is(health.state, state)
  })
}

test('ten consecutive failures open the breaker; a success restores four slots', (t) => {
  let health = healthy
  for (let n = 0; n < 10; n++)
    health = decide(health, { outcome: serverError, attemptInSchedule: 1, random: 0.5, at }).health
  t.is(slotsOf(health, at).count, 0)
  const until = pausedUntil(health)
  t.is(until, at + 30 * SECOND)
  const probe = slotsOf(health, at + 30 * SECOND)
  t.is(probe.count, 1)
  t.is(pausedUntil(probe.health), null)
  t.is(slotsOf(probe.health, at + 31 * SECOND).count, 0, 'one probe at a time')
  const { health: mended } = decide(probe.health, { outcome: delivered, attemptInSchedule: 1, random: 0.5, at })
  t.is(slotsOf(mended, at).count, 4)
})

test('an endpoint with three consecutive failures keeps one slot', (t) => {
  let health = healthy
  for (let n = 0; n < 3; n++)
    health = decide(health, { outcome: serverError, attemptInSchedule: 1, random: 0.5, at }).health
  t.is(slotsOf(health, at).count, 1)
})

test('an event filter is a type, a prefix with a star, or a star', (t) => {
  t.deepEqual(filtersMatching('risk_signals.pack_ready'), ['*', 'risk_signals.*', 'risk_signals.pack_ready'])
  for (const filter of ['*', 'risk_signals.*', 'webhook.test']) t.true(isEventFilter(filter), filter)
  for (const filter of ['', 'risk_signals', 'risk.*', '**', 'no.such', 'risk_signals.pack_*']) {
    t.false(isEventFilter(filter), filter)
  }
})
