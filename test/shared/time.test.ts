import test from 'ava'
import {
  microsOfDate,
  microsOfMillis,
  microsOfSeconds,
  nowMicros,
  toDate,
  toIsoMicros,
  toIsoMillis,
  toMillis,
  toSeconds,
} from '#shared/time.ts'

test('the clock has microseconds, and differs from the wall clock by less than a millisecond', (t) => {
  const fractions = new Set<number>()
  for (let i = 0; i < 200_000 && fractions.size < 100; i++) {
    const before = Date.now()
    const now = nowMicros()
    t.true(Number.isSafeInteger(now))
    t.true(now >= before * 1000 && now < (Date.now() + 1) * 1000)
    fractions.add(now % 1000)
  }
  t.is(fractions.size, 100)
})

test('an instant is written with all six digits of its second', (t) => {
  t.is(toIsoMicros(1_700_000_000_000_001), '2023-11-14T22:13:20.000001+00:00')
  t.is(toIsoMicros(1_700_000_000_000_000), '2023-11-14T22:13:20.000000+00:00')
})

test('units are converted there and back, and the types distinguish them', (t) => {
  const at = microsOfDate(new Date('2023-11-14T22:13:20.123Z'))
  t.is(at, 1_700_000_000_123_000)
  t.deepEqual(toDate(at + 999), new Date('2023-11-14T22:13:20.123Z'))
  t.is(toIsoMillis(at + 999), '2023-11-14T22:13:20.123Z')
  t.is(microsOfMillis(toMillis(at)), at)
  t.is(microsOfSeconds(toSeconds(1_500_000)), 1_500_000)
  // @ts-expect-error: milliseconds are no microseconds
  t.is(toSeconds(toMillis(1_000_000_000)), 1)
  // @ts-expect-error: seconds are no milliseconds
  t.is(microsOfMillis(toSeconds(1_000_000)), 1000)
})
