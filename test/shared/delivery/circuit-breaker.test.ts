import test from 'ava'
import { admit, type Breaker, closedBreaker, recordFailure, recordSuccess } from '#shared/delivery/circuit-breaker.ts'

const start = 1_000_000_000_000
const failures = (count: number, from: Breaker = closedBreaker, at = start) =>
  Array.from({ length: count }).reduce<Breaker>((breaker) => recordFailure(breaker, at), from)

test('the tenth consecutive failure opens the breaker for 30 seconds', (t) => {
  t.is(failures(9).phase, 'closed')
  const open = failures(10)
  t.is(open.phase, 'open')
  t.deepEqual(admit(open, start + 29_999), { pass: false, atMs: start + 30_000, breaker: open })
})

test('a success resets the count of consecutive failures', (t) => {
  const breaker = failures(4, recordSuccess(recordSuccess(failures(4), start), start + 400_000), start + 400_000)
  t.is(breaker.phase, 'closed')
})

test('70 % failures of at least ten attempts within five minutes open the breaker', (t) => {
  const mixed = (ok: number, failed: number) => {
    let breaker = closedBreaker
    for (let i = 0; i < ok; i += 1) breaker = recordSuccess(breaker, start)
    return failures(failed, breaker)
  }
  t.is(mixed(3, 6).phase, 'closed')
  t.is(mixed(3, 7).phase, 'open')
  t.is(mixed(4, 9).phase, 'closed')
})

test('attempts older than five minutes no longer count', (t) => {
  let breaker = recordSuccess(failures(9), start)
  breaker = recordFailure(breaker, start + 331_000)
  t.is(breaker.phase, 'closed')
  t.is(breaker.samples.length, 1)
})

test('exactly one probe passes after the open time', (t) => {
  const first = admit(failures(10), start + 30_000)
  t.true(first.pass)
  t.is(first.breaker.phase, 'half-open')
  t.false(admit(first.breaker, start + 30_001).pass)
})

test('a successful probe closes the breaker and clears its history', (t) => {
  const probe = admit(failures(10), start + 30_000)
  t.deepEqual(recordSuccess(probe.breaker, start + 31_000), closedBreaker)
})

test('each failed probe doubles the open time, up to 15 minutes', (t) => {
  let breaker = failures(10)
  const waits = [breaker.openForMs / 1000]
  for (let i = 0; i < 7; i += 1) {
    breaker = recordFailure(admit(breaker, breaker.untilMs).breaker, breaker.untilMs)
    waits.push(breaker.openForMs / 1000)
  }
  t.deepEqual(waits, [30, 60, 120, 240, 480, 900, 900, 900])
})

test('a probe without a recorded end permits another after a minute', (t) => {
  const probe = admit(failures(10), start + 30_000)
  t.false(admit(probe.breaker, start + 89_999).pass)
  t.true(admit(probe.breaker, start + 90_000).pass)
})

test('results of attempts from before the opening change nothing', (t) => {
  const open = failures(10)
  t.is(recordFailure(open, start + 1), open)
  t.is(recordSuccess(open, start + 1), open)
})
