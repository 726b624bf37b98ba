import test from 'ava'
import { lanesOf, type Run } from '../../../ingress/web/monitoring/checks/runs.ts'
import {
  distanceText,
  everyText,
  humanDuration,
  relativeTime,
  splitDuration,
} from '../../../ingress/web/shell/format.ts'

for (const [seconds, text] of [
  [0, '0 s'],
  [0.25, '0.25 s'],
  [1, '1 s'],
  [90, '1 min 30 s'],
  [3600, '1 h'],
  [90_061, '1 d 1 h'],
  [604_800, '7 d'],
] as const)
  test(`${seconds} seconds are written as ${text}`, (t) => {
    t.is(humanDuration(seconds), text)
  })

test('a period of one unit is written without the number one', (t) => {
  t.is(everyText(86_400), 'every day')
  t.is(everyText(5400), 'every 1 h 30 min')
  t.is(everyText(300), 'every 5 min')
})

test('times are relative to the current time', (t) => {
  const now = 1_800_000_000_000_000
  t.is(relativeTime(now, now), 'just now')
  t.is(relativeTime(now - 90_000_000, now), '1 min ago')
  t.is(relativeTime(now + 7_200_000_000, now), 'in 2 h')
  t.is(distanceText(now - 5_700_000_000, now), '1 h')
  t.is(distanceText(now - 5_700_000_000, now, 2), '1 h 35 min')
  t.is(distanceText(now - 150_000_000, now, 2), '2 min', 'below an hour one unit is exact enough')
})

test('a form shows a duration in the largest unit that represents it exactly', (t) => {
  t.deepEqual(splitDuration(7200), { count: 2, unit: 'hours' })
  t.deepEqual(splitDuration(5400), { count: 90, unit: 'minutes' })
  t.deepEqual(splitDuration(61), { count: 61, unit: 'seconds' })
})

test('runs share a lane only when they do not overlap', (t) => {
  const run = (from: number, until: number | null, n: number): Run => ({ from, until, isFailed: false, n })
  t.deepEqual(lanesOf([run(0, 10, 1), run(5, 15, 2), run(10, 20, 3), run(12, null, 4)], 30), [0, 1, 0, 2])
})
