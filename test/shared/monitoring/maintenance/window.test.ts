import test from 'ava'
import { readWindow } from '#shared/monitoring/maintenance/read-window.ts'
import { nextTime } from '#shared/monitoring/maintenance/spans.ts'
import { endedAt, isAbout, timesOf, type Window } from '#shared/monitoring/maintenance/window.ts'
import { microsOfSeconds } from '#shared/time.ts'

const HOUR = microsOfSeconds(3600)
const utc = (text: string) => Date.parse(text) * 1000
const NOW = utc('2026-11-22T00:00:00Z')
const weekly: Window['time'] = { every: 'Sat 02:00', for: 7200, tz: 'Europe/Riga' }

test('a recurring window keeps local time and length across clock changes', (t) => {
  const daily: Window['time'] = { every: '30 2 * * *', for: 5400, tz: 'Europe/Riga' }
  // Clocks go back on 2026-10-25 at 04:00 and forward on 2027-03-28 at 03:00.
  const begins = (from: string, until: string) =>
    timesOf({ time: daily }, utc(from), utc(until)).map(({ from: begin }) => new Date(begin / 1000).toISOString())
  t.deepEqual(begins('2026-10-24T00:00:00Z', '2026-10-27T00:00:00Z'), [
    '2026-10-23T23:30:00.000Z',
    '2026-10-24T23:30:00.000Z',
    '2026-10-26T00:30:00.000Z',
  ])
  t.deepEqual(begins('2027-03-27T02:00:00Z', '2027-03-30T02:00:00Z'), [
    '2027-03-28T00:30:00.000Z',
    '2027-03-28T23:30:00.000Z',
    '2027-03-29T23:30:00.000Z',
  ])
  for (let day = 0; day < 400; day++) {
    const from = utc('2026-03-01T00:00:00Z') + day * 24 * HOUR
    for (const time of timesOf({ time: daily }, from, from + 24 * HOUR)) {
      t.is(time.until - time.from, microsOfSeconds(5400))
      t.true(time.until > from && time.from < from + 24 * HOUR)
    }
  }
})

test('an adjacent window does not overlap a span', (t) => {
  const once = { time: { starts: NOW, ends: NOW + HOUR } }
  t.deepEqual(timesOf(once, NOW + HOUR, NOW + 2 * HOUR), [])
  t.deepEqual(timesOf(once, NOW - HOUR, NOW), [])
  t.is(timesOf(once, NOW + HOUR - 1, NOW + 2 * HOUR).length, 1)
  t.deepEqual(timesOf({ time: weekly }, utc('2026-11-21T00:30:00Z'), utc('2026-11-21T00:31:00Z')), [
    { from: utc('2026-11-21T00:00:00Z'), until: utc('2026-11-21T02:00:00Z') },
  ])
})

test('ending one occurrence early does not change the others', (t) => {
  const begin = utc('2026-11-21T00:00:00Z')
  const window = { time: weekly }
  const week = 7 * 24 * HOUR
  t.is(endedAt(window, begin - 1), null, 'the window is not in progress')
  t.is(endedAt(window, begin + 2 * HOUR), null, 'the window is over')
  const time = endedAt(window, begin + HOUR + 400_000)
  if (!time) return t.fail()
  const ended = { time }
  t.deepEqual(timesOf(ended, begin - week, begin + 2 * week), [
    { from: begin - week, until: begin - week + 2 * HOUR },
    { from: begin, until: begin + HOUR },
    { from: begin + week, until: begin + week + 2 * HOUR },
  ])
  t.deepEqual(timesOf(ended, begin + HOUR, begin + HOUR + 1), [], 'over at the second in which it was ended')
  t.deepEqual(nextTime(ended, begin + HOUR), { from: begin + week, until: begin + week + 2 * HOUR })
  t.deepEqual(nextTime(ended, begin + HOUR - 1), { from: begin, until: begin + HOUR })
  t.is(endedAt(ended, begin + HOUR + 1), null, 'an occurrence cannot end twice')
  const again = endedAt(ended, begin + week + 60_000_000)
  t.is(again && 'every' in again && again.cuts?.length, 2, 'the earlier occurrence stays ended')
  t.deepEqual(endedAt(window, begin), { ...weekly, cuts: [{ from: begin, until: begin }] })

  const fields = { name: '', match: '*', checks: [], uptime: 'count', shown: false } as const
  const requested = { every: 'Sat 02:00', for: 7200, tz: 'Europe/Riga' }
  t.is(readWindow(requested, { ...fields, time }, NOW).time, time, 'a form with the same times keeps the early end')
  t.deepEqual(readWindow({ ...requested, for: 3600 }, { ...fields, time }, NOW).time, { ...requested, for: 3600 })
})

test('overlapping occurrences of a window end together', (t) => {
  const time = endedAt({ time: { every: '0 * * * *', for: 7200, tz: 'UTC' } }, NOW + HOUR / 2)
  if (!time) return t.fail()
  t.deepEqual(timesOf({ time }, NOW, NOW + HOUR + 1), [
    { from: NOW - HOUR, until: NOW + HOUR / 2 },
    { from: NOW, until: NOW + HOUR / 2 },
    { from: NOW + HOUR, until: NOW + 3 * HOUR },
  ])
})

test('a window applies to matching checks and to named checks', (t) => {
  const window = { ...readWindow({ match: 'db prod', checks: ['a'], for: 60 }, null, NOW), uuid: 'w' }
  t.true(isAbout(window, { uuid: 'a', tags: [] }))
  t.true(isAbout(window, { uuid: 'b', tags: ['prod', 'db', 'x'] }))
  t.false(isAbout(window, { uuid: 'b', tags: ['db'] }))
  t.true(isAbout({ ...window, match: '*' }, { uuid: 'b', tags: [] }))
})

test('a window without a start begins now, and null resets members', (t) => {
  const snooze = readWindow({ checks: ['a'], for: 3600 }, null, NOW + 7)
  t.deepEqual(snooze.time, { starts: NOW, ends: NOW + HOUR })
  t.deepEqual(readWindow({ name: 'n' }, snooze, NOW).time, snooze.time)
  t.is(readWindow({ uptime: null }, { ...snooze, uptime: 'exclude' }, NOW).uptime, 'count')
})

test('a change of one end or schedule of a window keeps the rest', (t) => {
  const fields = { name: '', match: '*', checks: [], uptime: 'count', shown: false } as const
  const changed = (time: Window['time'], body: Record<string, string | number | null>) =>
    readWindow(body, { ...fields, time }, NOW + HOUR).time
  const once = { starts: NOW, ends: NOW + 2 * HOUR }
  const soon = NOW + HOUR + microsOfSeconds(20)
  t.deepEqual(changed(once, { ends: '2026-11-22T01:00:20Z' }), { starts: NOW, ends: soon })
  t.deepEqual(changed(once, { for: 3620 }), { starts: NOW, ends: soon })
  t.deepEqual(changed(once, { starts: '2026-11-22T01:00:20Z' }), { starts: soon, ends: once.ends })
  t.deepEqual(changed(once, { starts: null }), { starts: NOW + HOUR, ends: once.ends }, 'null is now')
  t.deepEqual(changed(weekly, { for: 60 }), { ...weekly, for: 60 })
  t.deepEqual(changed(weekly, { every: 'Sun 02:00' }), { ...weekly, every: 'Sun 02:00' })
  t.deepEqual(changed(weekly, { tz: null }), { ...weekly, tz: 'UTC' })
  t.deepEqual(changed(weekly, { starts: null, for: 3600 }), { starts: NOW + HOUR, ends: NOW + 2 * HOUR })
})

const wrong: [Record<string, unknown>, string][] = [
  [{ match: '*', name: 1 }, 'name must be a string'],
  [{ match: '*', name: 'x'.repeat(101) }, 'name must have at most 100 characters'],
  [{ for: 60 }, 'match is required without checks'],
  [{ match: '*' }, 'ends is required'],
  [{ match: '*', checks: 'a', for: 60 }, 'checks must be an array'],
  [{ match: '*', checks: Array.from({ length: 501 }, () => 'a'), for: 60 }, 'checks must have at most 500 elements'],
  [{ match: '*', starts: 'tomorrow', for: 60 }, 'starts must be a time such as 2026-05-01T09:30:00+00:00'],
  [
    { match: '*', starts: '2026-11-22T01:00:00+00:00', ends: '2026-11-22T01:00:59+00:00' },
    'ends must be 60 to 2592000 seconds after starts',
  ],
  [
    { match: '*', starts: '2026-11-22T01:00:00+00:00', ends: '2026-12-23T01:00:00+00:00' },
    'ends must be 60 to 2592000 seconds after starts',
  ],
  [{ match: '*', for: 59 }, 'for must be between 60 and 2592000 seconds'],
  [{ match: '*', for: 2_592_001 }, 'for must be between 60 and 2592000 seconds'],
  [{ match: '*', for: 60, ends: '2026-11-22T01:00:00+00:00' }, 'for must not be given together with ends'],
  [
    { match: '*', every: '0 2 * * *', for: 60, starts: '2026-11-22T01:00:00+00:00' },
    'every must not be given together with starts or ends',
  ],
  [{ match: '*', every: 'never', for: 60 }, 'every is not a valid cron or OnCalendar expression'],
  [
    { match: '*', every: 'Sun *-3-25..31 02:15', for: 60, tz: 'Europe/Paris' },
    'every is not a valid cron or OnCalendar expression',
  ],
  [{ match: '*', every: '0 2 * * *' }, 'for is required'],
  [{ match: '*', every: '0 2 * * *', for: 60, tz: 'Mars' }, 'tz is not a valid timezone'],
  [{ match: '*', for: 60, uptime: 'maybe' }, 'uptime must be one of count, exclude'],
  [{ match: '*', for: 60, shown: 1 }, 'shown must be true or false'],
  [{ match: '*', for: 60, evry: 1 }, 'evry is not a known member'],
]
for (const [body, message] of wrong) {
  test(`refuses a window: ${message} (${JSON.stringify(body).slice(0, 110)})`, (t) => {
    t.throws(() => readWindow(body as never, null, NOW), { message: `json validation error: ${message}` })
  })
}
