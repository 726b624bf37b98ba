import test from 'ava'
import { downtimeByMonth } from '#shared/monitoring/flips/downtime.ts'
import {
  coversMuchOfWeek,
  excludedSpans,
  merged,
  nextTime,
  openWindows,
  timedWindows,
  WEEK,
  windowNow,
  without,
} from '#shared/monitoring/maintenance/spans.ts'
import { uncounted, uptimeOf } from '#shared/monitoring/maintenance/uptime.ts'
import type { Window } from '#shared/monitoring/maintenance/window.ts'
import { downDays } from '#shared/monitoring/pages/down-days.ts'
import { runYielding } from '#shared/platform/process/time-slices.ts'
import { microsOfDate } from '#shared/time.ts'

const at = (text: string) => microsOfDate(new Date(`2026-11-${text}Z`))
const span = (from: string, until: string) => ({ from: at(from), until: at(until) })
const check = { uuid: 'one', tags: ['db'] }
const window = (fields: Partial<Window>): Window => ({
  uuid: 'w',
  name: '',
  match: 'db',
  checks: [],
  time: { starts: at('22T01:00:00'), ends: at('22T03:00:00') },
  uptime: 'exclude',
  shown: false,
  ...fields,
})

test('merges adjacent spans and subtracts spans', (t) => {
  const taken = merged([
    span('22T03:00:00', '22T04:00:00'),
    span('22T01:00:00', '22T03:00:00'),
    span('22T08:00:00', '22T09:00:00'),
  ])
  t.deepEqual(taken, [span('22T01:00:00', '22T04:00:00'), span('22T08:00:00', '22T09:00:00')])
  t.deepEqual(without(span('22T00:00:00', '22T08:30:00'), taken), [
    span('22T00:00:00', '22T01:00:00'),
    span('22T04:00:00', '22T08:00:00'),
  ])
  t.deepEqual(without(span('22T02:00:00', '22T03:00:00'), taken), [])
  t.deepEqual(without(span('22T05:00:00', '22T06:00:00'), taken), [span('22T05:00:00', '22T06:00:00')])
})

test('only windows of the check with "exclude" exclude its time', async (t) => {
  const windows = [
    window({}),
    window({ match: 'web' }),
    window({ uptime: 'count', time: { starts: at('22T02:00:00'), ends: at('22T05:00:00') } }),
    window({ match: '', checks: ['one'], time: { every: '0 6 * * *', for: 3600, tz: 'UTC' } }),
  ]
  const timed = await runYielding(timedWindows(windows, at('22T00:00:00'), at('24T00:00:00')))
  t.deepEqual(excludedSpans(timed, check), [
    span('22T01:00:00', '22T03:00:00'),
    span('22T06:00:00', '22T07:00:00'),
    span('23T06:00:00', '23T07:00:00'),
  ])
  t.is(
    windowNow(await runYielding(openWindows(windows, at('22T02:30:00'))), check)?.until,
    at('22T05:00:00'),
    'the last end of several windows',
  )
  t.is(windowNow(await runYielding(openWindows(windows, at('22T05:00:00'))), check), null)
  t.deepEqual(nextTime(window({ time: { every: '0 6 * * *', for: 3600, tz: 'UTC' } }), at('22T06:30:00')), {
    ...span('22T06:00:00', '22T07:00:00'),
  })
  t.is(nextTime(window({}), at('22T03:00:00')), null)
})

test('the computation yields after each window', (t) => {
  const recurring = Array.from({ length: 5 }, () => window({ time: { every: '0 6 * * *', for: 3600, tz: 'UTC' } }))
  const yields = (work: Generator<undefined, unknown>) => {
    let count = 0
    while (!work.next().done) count++
    return count
  }
  t.is(yields(timedWindows(recurring, at('22T00:00:00'), at('24T00:00:00'))), 5)
  t.is(yields(openWindows(recurring, at('22T00:00:00'))), 5)
})

test('detects windows that cover more than half of the next week', async (t) => {
  const now = at('22T00:00:00')
  const isMost = async (seconds: number) =>
    coversMuchOfWeek(
      await runYielding(
        timedWindows([window({ time: { every: '0 0 * * *', for: seconds, tz: 'UTC' } })], now, now + WEEK),
      ),
      check,
      now,
    )
  t.true(await isMost(43_201))
  t.false(await isMost(43_100))
})

test('excluded time counts neither as up nor as down', (t) => {
  const flips = [
    { at: at('22T00:00:00'), from: 'new', to: 'up' },
    { at: at('22T01:30:00'), from: 'up', to: 'down' },
    { at: at('22T03:30:00'), from: 'down', to: 'up' },
    { at: at('22T06:10:00'), from: 'up', to: 'down' },
    { at: at('22T06:20:00'), from: 'down', to: 'up' },
  ] as const
  const excluded = [span('22T01:00:00', '22T03:00:00'), span('22T06:00:00', '22T07:00:00')]
  const now = at('22T10:00:00')
  t.like(downtimeByMonth(flips, 1, now)[0], { seconds: 7800, count: 2 })
  t.like(
    downtimeByMonth(flips, 1, now, excluded)[0],
    { seconds: 1800, count: 1 },
    'an outage in excluded time does not count',
  )
  t.is(downDays(flips, 1, now, { excluded })[0]?.seconds, 1800)
  t.deepEqual(
    downDays(flips, 2, now, { excluded, planned: excluded }).map(({ isPlanned }) => isPlanned),
    [undefined, true],
  )
  t.deepEqual(
    downDays(flips, 2, now, { unknown: [span('21T23:59:59', '22T00:00:00')] }).map(({ isUnknown }) => isUnknown),
    [true, undefined],
  )
  const facts = {
    flips,
    before: 'new' as const,
    createdAt: at('21T23:30:00'),
    unknown: [span('22T02:00:00', '22T04:00:00'), span('22T08:00:00', '22T08:30:00')],
    excluded,
  }
  t.deepEqual(uptimeOf(facts, at('21T23:00:00'), now), {
    up: 3600 + 7200 + 3600 + 5400,
    down: 1800,
    unknown: 1800 + 1800,
    maintenance: 3 * 3600,
    off: 3600,
    ratio: 0.916_666,
  })
  t.is(uptimeOf({ ...facts, flips: [], before: 'paused' }, at('22T00:00:00'), now).ratio, null)
  const from = at('22T08:00:00')
  const down = { at: from + 7_600_000, from: 'up', to: 'down' } as const
  const rounded = uptimeOf({ ...facts, flips: [down], before: 'up', unknown: [] }, from, from + 14_000_000)
  t.like(rounded, { up: 8, down: 6, unknown: 0, maintenance: 0, off: 0 }, 'whole seconds add up to the period')
})

test('unknown time counts as neither unless the check was down', (t) => {
  const flips = [
    { at: 10, from: 'new', to: 'up' },
    { at: 20, from: 'up', to: 'down' },
    { at: 30, from: 'down', to: 'up' },
  ] as const
  t.deepEqual(
    uncounted(
      [{ from: 40, until: 50 }],
      [
        { from: 15, until: 25 },
        { from: 45, until: 60 },
      ],
      flips,
    ),
    [
      { from: 15, until: 20 },
      { from: 40, until: 60 },
    ],
  )
  t.deepEqual(uncounted([], [{ from: 22, until: 99 }], flips.slice(0, 2)), [], 'the check is still down')
})
