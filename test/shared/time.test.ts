import test from 'ava'
import { nowMicros, toIsoMicros } from '#shared/time.ts'

test('the clock tells microseconds, and is never off the wall clock by a millisecond', (t) => {
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
