import test from 'ava'
import { ClockSetting } from '#shared/platform/process/clock.ts'
import { microsOfSeconds } from '#shared/time.ts'

const SECOND = microsOfSeconds(1)
/** A measurement that is exact to a millisecond. */
const exactly = (offset: number) => ({ low: offset - 500, high: offset + 500 })

test('the first measurement sets the clock, and before it the clock reports that it is not set', (t) => {
  const clock = new ClockSetting(3600 * SECOND)
  t.regex(clock.problems(0)[0] ?? '', /not yet set/)
  clock.heed(exactly(7 * SECOND), 1 * SECOND)
  t.deepEqual(clock.problems(1 * SECOND), [])
  t.is(clock.now(1 * SECOND), 8 * SECOND)
})

test('a measurement moves the clock as far as it proves it wrong, little by little', (t) => {
  const clock = new ClockSetting(0)
  clock.heed(exactly(0), 0)
  // A slow reading that is consistent with earlier readings proves nothing.
  clock.heed({ low: -2 * SECOND, high: 2 * SECOND }, 10 * SECOND)
  t.is(clock.now(20 * SECOND), 20 * SECOND)
  clock.heed({ low: -700_000, high: -500_000 }, 20 * SECOND)
  t.is(clock.now(21 * SECOND), 21 * SECOND - 100_000)
  t.is(clock.now(40 * SECOND), 40 * SECOND - 500_000)
})

test('measurements a second apart make it unsteady, until another one confirms the later', (t) => {
  const clock = new ClockSetting(0)
  clock.heed(exactly(0), 0)
  clock.heed(exactly(600 * SECOND), 10 * SECOND)
  t.regex(clock.problems(10 * SECOND)[0] ?? '', /differ/)
  t.is(clock.now(10 * SECOND), 10 * SECOND, 'one alone changes nothing')
  clock.heed(exactly(0), 11 * SECOND)
  t.deepEqual(clock.problems(11 * SECOND), [])

  clock.heed(exactly(600 * SECOND), 20 * SECOND)
  clock.heed(exactly(600 * SECOND), 21 * SECOND)
  t.deepEqual(clock.problems(21 * SECOND), [])
  t.true(Math.abs(clock.now(21 * SECOND) - 621 * SECOND) < 1000)
})

test('it never runs backwards, and is not right until it has slowed down enough', (t) => {
  const clock = new ClockSetting(0)
  clock.heed(exactly(30 * SECOND), 0)
  clock.heed(exactly(0), 10 * SECOND)
  clock.heed(exactly(0), 11 * SECOND)
  let last = 0
  for (let at = 11 * SECOND; at < 400 * SECOND; at += SECOND / 4) {
    const now = clock.now(at)
    t.true(now >= last)
    last = now
    if (at === 100 * SECOND) t.regex(clock.problems(at)[0] ?? '', /away from the database/)
  }
  t.deepEqual(clock.problems(400 * SECOND), [])
  t.true(Math.abs(clock.now(400 * SECOND) - 400 * SECOND) < 1000)
})

test('it does not run backwards if a measurement lies between the clock and its earlier target', (t) => {
  const clock = new ClockSetting(0)
  clock.heed(exactly(10 * SECOND), 0)
  for (const at of [10, 11]) clock.heed(exactly(0), at * SECOND)
  const before = clock.now(31 * SECOND)
  for (const at of [31, 32]) clock.heed(exactly(3 * SECOND), at * SECOND)
  t.true(clock.now(32 * SECOND) > before)
  t.true(Math.abs(clock.now(200 * SECOND) - 203 * SECOND) < 1000)
})
