import test from 'ava'
import { createAttestation } from '#shared/monitoring/availability/attestation.ts'
import { ClockWatch } from '#shared/monitoring/availability/clock-watch.ts'
import { provenUntil } from '#shared/monitoring/availability/unavailable.ts'
import { goingDownAt } from '#shared/monitoring/checks/status.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { at, d, gap, gapsOf, HOUR, MIN, m, proof, S, sweepOn } from './ledger-scenario.ts'

// Scenarios of docs/spec/alerting.md#coverage-scenarios, with its checks m and d.

const DAY = 24 * HOUR
const everyMinute = (from: number, until: number) =>
  Array.from({ length: Math.floor((until - from) / MIN) + 1 }, (_, index) => from + index * MIN)

test('scenario 1: an outage of half an hour extends deadlines to 10:32:00', (t) => {
  const proofs = [proof(at('09:00'), at('10:00')), proof(at('10:30'), at('10:40'), { instance: 'b' })]
  const gaps = gapsOf(proofs, 1, at('10:40'))
  t.like(gaps, { length: 1, 0: { from: at('10:00'), until: at('10:30'), kind: 'full', listener: 'http' } })
  const extended = sweepOn(m(at('09:59:30')), { gaps, until: at('10:31') })
  t.is(goingDownAt(extended.check, nextOccurrence), at('10:32'))
  const alive = sweepOn(m(at('09:59:30')), {
    gaps,
    pings: everyMinute(at('10:30:30'), at('11:00')),
    until: at('11:00'),
  })
  t.is(alive.flip, null)
})

test('scenario 2: a check whose job died in the gap goes down at 10:32:00', (t) => {
  t.is(sweepOn(m(at('09:59:30')), { gaps: [gap(at('10:00'), at('10:30'))], until: at('11:00') }).flip, at('10:32'))
})

test('scenario 3: two hours without processes or asleep are a gap', (t) => {
  const off = [proof(at('08:00'), at('10:00')), proof(at('12:00'), at('12:10'), { instance: 'b' })]
  t.like(gapsOf(off, 1, at('12:10')), { length: 1, 0: { from: at('10:00'), until: at('12:00') } })
  // Asleep: the monotonic clock stopped, the wall clock did not.
  const attestation = createAttestation(2000)
  attestation.prove({ monotonic: 0, wall: 0 }, 1n)
  attestation.prove({ monotonic: 2000, wall: 2000 }, 1n)
  attestation.prove({ monotonic: 4000, wall: 7_204_000 }, 1n)
  t.deepEqual(
    attestation.waiting().map(({ from, until }) => [from.wall, until.wall]),
    [
      [0, 2000],
      [7_204_000, 7_204_000],
    ],
  )
  // Restored from yesterday's backup: the last proof is a day old.
  const restored = [proof(at('00:00') - DAY, at('10:00') - DAY), proof(at('10:00'), at('10:10'), { instance: 'b' })]
  t.like(gapsOf(restored, 1, at('10:10')), { length: 1, 0: { from: at('10:00') - DAY, until: at('10:00') } })
})

test('scenario 4: after a detection gap checks go down at their deadlines', (t) => {
  const proofs = [
    proof(at('09:00'), at('10:20')),
    proof(at('09:00'), at('10:00'), { kind: 'sweeper', instance: 's' }),
    proof(at('10:10'), at('10:20'), { kind: 'sweeper', instance: 't' }),
  ]
  const gaps = gapsOf(proofs, 1, at('10:20'))
  t.like(gaps, { length: 1, 0: { kind: 'detection', listener: 'sweeper', from: at('10:00'), until: at('10:10') } })
  t.like(sweepOn(m(at('10:01')), { gaps, until: at('10:20') }), { flip: at('10:03'), extensions: [] })
})

test('scenario 5: a stopped evaluator causes no gap', (t) => {
  t.deepEqual(gapsOf([proof(at('09:00'), at('10:20'))], 1, at('10:20')), [])
})

test('scenario 6: a broker alarm of 3 minutes extends only the deadline of m', (t) => {
  const proofs = [proof(at('02:00'), at('03:30'), { shards: 3n }), proof(at('03:33'), at('05:00'), { shards: 3n })]
  const gaps = gapsOf(proofs, 2, at('05:00'))
  t.like(gaps, { length: 1, 0: { shards: 3n, from: at('03:30'), until: at('03:33'), kind: 'full' } })
  t.deepEqual(sweepOn(m(at('03:29:30')), { gaps, until: at('03:34') }).extensions, [at('03:33')])
  t.is(sweepOn(d(at('03:00') - DAY), { gaps, pings: [at('03:50')], until: at('05:00') }).flip, null)
})

test('scenario 7: a queue that is full for two minutes is a gap of its shard', (t) => {
  const proofs = [
    proof(at('09:00'), at('10:00'), { shards: 3n }),
    proof(at('10:00'), at('10:02'), { shards: 1n }),
    proof(at('10:02'), at('10:10'), { shards: 3n }),
  ]
  t.like(gapsOf(proofs, 2, at('10:10')), { length: 1, 0: { shards: 2n, from: at('10:00'), until: at('10:02') } })
})

test('scenario 8: killing one of two processes is a partial gap of 20 s', (t) => {
  const proofs = [proof(at('03:00'), at('04:10')), proof(at('03:00'), at('03:59:50'), { instance: 'b' })]
  const gaps = gapsOf(proofs, 1, at('04:10'))
  t.like(gaps, { length: 1, 0: { kind: 'partial', from: at('03:59:50'), until: at('04:00:10') } })
  const outcome = sweepOn(m(at('03:59:00')), { gaps, until: at('04:10') })
  t.deepEqual(outcome.extensions, [at('04:00:10')])
  t.is(sweepOn(d(at('03:30') - DAY), { gaps, until: at('04:10') }).flip, at('04:00'))
})

test('scenario 9: two clean restarts, one after the other, leave no gap', (t) => {
  const proofs = [
    proof(at('09:00'), at('10:00'), { instance: 'a', isClean: true }),
    proof(at('10:00:05'), at('10:10'), { instance: 'c' }),
    proof(at('09:00'), at('10:01'), { instance: 'b', isClean: true }),
    proof(at('10:01:05'), at('10:10'), { instance: 'e' }),
  ]
  t.deepEqual(gapsOf(proofs, 1, at('10:10')), [])
})

test('scenario 10: a clean restart in 5 s extends the deadline of m, and d is evaluated', (t) => {
  const proofs = [
    proof(at('03:00'), at('03:59'), { isClean: true }),
    proof(at('03:59:05'), at('04:10'), { instance: 'b' }),
  ]
  const gaps = gapsOf(proofs, 1, at('04:10'))
  t.like(gaps, { length: 1, 0: { from: at('03:59'), until: at('03:59:05') } })
  t.is(sweepOn(m(at('03:58')), { gaps, until: at('04:10') }).extensions[0], at('03:59:05'))
  t.is(sweepOn(d(at('03:00') - DAY), { gaps, until: at('04:10') }).flip, at('04:00'))
})

test('scenarios 11 and 12: proofs of a database outage are stored later', (t) => {
  const attestation = createAttestation(2000)
  for (let ms = 0; ms <= 600_000; ms += 2000) attestation.prove({ monotonic: ms, wall: ms }, 1n)
  t.like(attestation.waiting(), { length: 1, 0: { until: { wall: 600_000 } } })
  attestation.prove({ monotonic: 602_000, wall: 602_000 }, 0n)
  attestation.prove({ monotonic: 604_000, wall: 604_000 }, 1n)
  t.deepEqual(
    attestation.waiting().map(({ from, until }) => [from.wall, until.wall]),
    [
      [0, 600_000],
      [604_000, 604_000],
    ],
    'no heartbeat covers a time with a failed proof (B6)',
  )
  attestation.stored(attestation.waiting())
  t.deepEqual(attestation.waiting(), [])
})

test('scenario 13: a refused ping extends only the deadline of its check', (t) => {
  const refusals = [at('10:00:40'), at('10:01:10')]
  t.deepEqual(sweepOn(m(at('09:59:30')), { gaps: [], refusals, until: at('10:02') }).extensions, [at('10:01:10')])
  t.is(sweepOn(m(at('09:59:30')), { gaps: [], until: at('10:02') }).flip, at('10:01:30'))
})

test('scenario 14: a forward clock jump is a gap and delays the sweep', (t) => {
  const watch = new ClockWatch(10 * S, 0)
  t.false(watch.isCalm(9 * S))
  t.true(watch.isCalm(10 * S))
  t.deepEqual(watch.observe(at('10:00'), 20 * S), { kind: 'steady' })
  const jumped = watch.observe(at('12:00:01'), 21 * S)
  t.deepEqual(jumped, { kind: 'forward', from: at('10:00'), until: at('12:00:01') })
  t.false(watch.isCalm(30 * S))
  t.deepEqual(watch.observe(at('10:01:01'), 81 * S), { kind: 'backward' })
  t.false(watch.isCalm(90 * S))
  t.true(watch.isCalm(91 * S))
  const gaps = [gap(at('10:00'), at('12:00:01'), { kind: 'clock' })]
  t.is(sweepOn(m(at('09:59:30')), { gaps, until: at('12:01') }).flip, null)
})

test('scenario 15: a check that was down before stays down', (t) => {
  t.is(goingDownAt(m(at('09:00'), { status: 'down' }), nextOccurrence), null)
})

test('scenario 16: a deadline a second before the gap brings the check down', (t) => {
  t.is(sweepOn(m(at('09:57:59')), { gaps: [gap(at('10:00'), at('10:30'))], until: at('10:40') }).flip, at('09:59:59'))
})

test('scenario 17: a daily job with a lost ping is extended to tomorrow', (t) => {
  const gaps = [gap(at('02:50'), at('03:20'))]
  const outcome = sweepOn(d(at('03:05') - DAY), { gaps, until: at('05:00') })
  t.deepEqual([outcome.flip, outcome.extensions], [null, [at('03:20')]])
  t.is(goingDownAt(outcome.check, nextOccurrence), at('04:00') + DAY)
})

test('scenario 18: a retry after the gap needs no deadline extension', (t) => {
  const gaps = [gap(at('02:50'), at('03:20'))]
  const outcome = sweepOn(d(at('03:05') - DAY), { gaps, pings: [at('03:21')], until: at('05:00') })
  t.deepEqual([outcome.flip, outcome.extensions], [null, []])
})

test('scenario 19: a gap on Tuesday does not affect a job due on Sunday', (t) => {
  const weekly = d(at('03:05') - 7 * DAY, { schedule: '0 3 * * 0' })
  const tuesday = at('03:00') - 5 * DAY
  t.is(sweepOn(weekly, { gaps: [gap(tuesday, tuesday + HOUR)], until: at('06:00') }).flip, at('04:00'))
})

test('scenario 20: a run whose finish was lost ends as unknown', (t) => {
  const run = d(at('02:41') - DAY, { schedule: '40 2 * * *', lastStart: at('02:40') })
  const outcome = sweepOn(run, { gaps: [gap(at('03:00'), at('03:45'))], until: at('05:00') })
  t.is(outcome.flip, null)
  t.is(outcome.check.lastStart, null)
  t.is(goingDownAt(outcome.check, nextOccurrence), at('03:40') + DAY)
})

test('scenario 21: a stopped mail listener extends only checks pinged by mail', (t) => {
  const proofs = [
    proof(at('09:00'), at('11:00')),
    proof(at('09:00'), at('10:00'), { kind: 'smtp', instance: 'b' }),
    proof(at('10:30'), at('11:00'), { kind: 'smtp', instance: 'c' }),
  ]
  const gaps = gapsOf(proofs, 1, at('11:00'))
  t.like(gaps, { length: 1, 0: { listener: 'smtp' } })
  t.deepEqual(sweepOn(m(at('09:59:30')), { gaps, listener: 'smtp', until: at('10:31') }).extensions, [at('10:30')])
  t.is(sweepOn(m(at('09:59:30')), { gaps, until: at('10:31') }).flip, at('10:01:30'))
})

test('scenario 22: a broken proxy is not detected, so checks go down', (t) => {
  t.is(
    sweepOn(m(at('10:00')), { gaps: gapsOf([proof(at('09:00'), at('11:00'))], 1, at('11:00')), until: at('11:00') })
      .flip,
    at('10:02'),
  )
})

test('scenario 23: after two gaps the deadline follows the second', (t) => {
  const gaps = [gap(at('10:00'), at('10:30')), gap(at('10:31'), at('10:45'))]
  const outcome = sweepOn(m(at('09:59:30')), { gaps, until: at('12:00') })
  t.is(outcome.flip, at('10:47'))
  t.is(outcome.extensions.at(-1), at('10:45'))
})

test('scenario 24: the gap of a removed mail listener ends after 24 h', (t) => {
  const now = at('10:00') + 30 * HOUR
  const proofs = [
    proof(at('09:00'), now),
    proof(at('09:00'), at('10:00'), { kind: 'smtp', instance: 'b', isClean: true }),
  ]
  const open = gapsOf(
    proofs.map((one) => ({ ...one, until: Math.min(one.until, at('20:00')) })),
    1,
    at('20:00'),
  )
  t.like(open, { length: 1, 0: { listener: 'smtp', until: null } })
  const closed = gapsOf(proofs, 1, now)
  t.is(closed.length, 1)
  t.true(Math.abs((closed[0]?.until ?? 0) - (at('10:00') + DAY)) <= 1)
})

test('scenario 25: a maintenance window does not change a deadline extension', (t) => {
  t.deepEqual(sweepOn(m(at('09:59:30')), { gaps: [gap(at('10:00'), at('10:30'))], until: at('10:31') }).extensions, [
    at('10:30'),
  ])
})

test('a sweep waits for the proof of a listener, until it has been silent for 6 s', (t) => {
  const proofs = [proof(at('09:00'), at('10:00'))]
  t.is(provenUntil(proofs, at('10:00:05')), at('10:00'))
  t.deepEqual(gapsOf(proofs, 1, at('10:00:05')), [], 'the listener may still prove these seconds')
  t.is(provenUntil(proofs, at('10:00:07')), at('10:00:07'))
  t.like(gapsOf(proofs, 1, at('10:00:07')), { length: 1, 0: { from: at('10:00'), until: null } })
})

test('a check does not go down while a gap that overlaps its expected ping is open', (t) => {
  t.is(sweepOn(m(at('09:59:30')), { gaps: [gap(at('10:00'), null)], until: at('11:00') }).flip, null)
})
