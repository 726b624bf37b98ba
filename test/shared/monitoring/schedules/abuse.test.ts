import test from 'ava'
import { parseCron } from '#shared/monitoring/schedules/cron.ts'
import { nextInRealTime, nextInWallTime } from '#shared/monitoring/schedules/occurrences.ts'
import { parseOnCalendar } from '#shared/monitoring/schedules/on-calendar.ts'
import { isValidSchedule, nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import type { WallPattern } from '#shared/monitoring/schedules/wall-pattern.ts'
import { createZoneClock, type ZoneClock, zoneClock } from '#shared/monitoring/schedules/zone-clock.ts'
import { effort } from '../../../support/effort.ts'

const startOf2026 = Date.UTC(2026, 0, 1) / 1000

const hostile: [title: string, expression: string][] = [
  ['100 kB of stars', '*'.repeat(100_000)],
  ['100 kB of commas', `${','.repeat(100_000)} * * * *`],
  ['100 kB of a dense range', `${'0-59,'.repeat(20_000)}0 * * * *`],
  ['100 kB of spaces inside', `*${' '.repeat(100_000)}* * * *`],
  ['100 kB of digits', `${'1'.repeat(100_000)} * * * *`],
  ['100 kB of lines', '*:*\n'.repeat(25_000)],
  ['100 kB of lines with zones', '*:* Europe/Riga\n'.repeat(6000)],
  ['100 kB of weekdays', `${'Mon..Sun,'.repeat(11_000)} 12:00`],
  ['days that no month has', '0 0 30 2 *'],
  ['days that never meet', '* * */20 * 1L'],
  ['a date that no year has', '*-02-30'],
  ['a date in the past', '1999-01-01'],
  ['a path instead of a zone', '12:00 ../../etc/passwd'],
  ['a step of nothing', '*/0 * * * *'],
  ['an endless step without members', '5/ * * * *'],
  ['lines that never match', '*-02-30\n'.repeat(100)],
  ['a property every object has', 'constructor'],
]
for (const [title, expression] of hostile) {
  test(`${title} is invalid and has no next occurrence`, (t) => {
    t.false(isValidSchedule(expression))
    t.is(nextOccurrence('cron', expression, 'Europe/Riga', startOf2026 * 1e6), null)
    t.is(nextOccurrence('oncalendar', expression, 'Europe/Riga', startOf2026 * 1e6), null)
  })
}

test('an unknown zone has no occurrence and causes no error', (t) => {
  for (const tz of ['', 'utc', '../../etc/passwd', 'Europe/Surprise']) {
    t.is(nextOccurrence('cron', '* * * * *', tz, startOf2026 * 1e6), null)
    t.is(nextOccurrence('oncalendar', '*:*', tz, startOf2026 * 1e6), null)
  }
})

test('a huge step selects the first value of the field', (t) => {
  t.is(nextOccurrence('cron', `*/${'9'.repeat(400)} * * * *`, 'UTC', startOf2026 * 1e6), (startOf2026 + 3600) * 1e6)
})

/** Counts the calls of a search. */
function counted(pattern: WallPattern, clock: ZoneClock) {
  const count = { requested: 0 }
  return {
    count,
    zoned: {
      pattern: {
        nextAfter(after: number, lastYear: number) {
          count.requested += 1
          return pattern.nextAfter(after, lastYear)
        },
      },
      clock: {
        segmentAt(instant: number) {
          count.requested += 1
          return clock.segmentAt(instant)
        },
        place(wall: number) {
          count.requested += 1
          return clock.place(wall)
        },
      },
    },
  }
}

for (const zone of ['Europe/Riga', 'Africa/Casablanca', 'Antarctica/Troll', 'Australia/Lord_Howe']) {
  test(`a search for a rare occurrence in ${zone} takes few steps`, (t) => {
    const clock = zoneClock(zone)
    const crons = ['* * * * *', '* 2 29 2 1', '*/7 * * 2 MON#5', '* * */20 * 1L', '* * L 2 0'].map(parseCron)
    const lines = ['*:*:*', 'Mon *-02-29 2:30', '*-*-31 *:*:*', '2199-12-31'].flatMap(
      (line) => parseOnCalendar(line) ?? [],
    )
    t.is(lines.length, 4)
    for (let after = startOf2026; after < startOf2026 + 366 * 86_400; after += 86_400 * 1.5) {
      for (const cron of crons) {
        if (!cron || !clock) return t.fail()
        const { count, zoned } = counted(cron.pattern, clock)
        nextInRealTime(zoned, after, 2076)
        t.true(count.requested <= 30, `${count.requested}`)
      }
      for (const line of lines) {
        if (!clock) return t.fail()
        const { count, zoned } = counted(line.pattern, clock)
        nextInWallTime(zoned, after, 2199, 'skipped')
        t.true(count.requested <= 30, `${count.requested}`)
      }
    }
  })
}

const zones = Intl.supportedValuesOf('timeZone')
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** Returns OnCalendar lines for the local times that a zone skips from 2000 to 2037. */
function skippedLines(clock: ZoneClock): string[] {
  const lines = new Set<string>()
  let segment = clock.segmentAt(Date.UTC(2000, 0, 1) / 1000)
  while (segment.end < Date.UTC(2038, 0, 1) / 1000) {
    const following = clock.segmentAt(segment.end)
    if (following.offset > segment.offset) {
      const skipped = new Date((segment.end + segment.offset + 60) * 1000)
      const [month, day] = [skipped.getUTCMonth() + 1, skipped.getUTCDate()]
      const from = Math.max(1, day - 6)
      const time = `${skipped.getUTCHours()}:${skipped.getUTCMinutes()}`
      lines.add(`${DAYS[skipped.getUTCDay()]} *-${month}-${from}..${day} ${time}`)
      lines.add(`*-${month}-${day} ${time}`)
    }
    segment = following
  }
  return [...lines, '2019-01-01', 'Mon *-02-29 2:30', '*-02-30']
}

test('a search in skipped hours derives each year of a zone once', (t) => {
  for (const [index, zone] of zones.entries()) {
    if (index % effort(20, 1) !== 0) continue
    const known = zoneClock(zone)
    if (!known) return t.fail(zone)
    let lookupCount = 0
    const clock = createZoneClock((instant) => {
      lookupCount += 1
      return known.segmentAt(instant).offset
    })
    for (const { pattern } of skippedLines(known).flatMap((line) => parseOnCalendar(line) ?? [])) {
      const { count, zoned } = counted(pattern, clock)
      nextInWallTime(zoned, startOf2026, 2199, 'skipped')
      t.true(count.requested <= 1000, `${zone}: ${count.requested} steps`)
    }
    // 62 years until 2087, and the 14 different calendars afterwards.
    t.true(lookupCount <= 80 * 130, `${zone}: ${lookupCount} lookups`)
    lookupCount = 0
    for (const { pattern } of skippedLines(known).flatMap((line) => parseOnCalendar(line) ?? [])) {
      nextInWallTime({ pattern, clock }, startOf2026, 2199, 'skipped')
    }
    t.is(lookupCount, 0, zone)
  }
})

test('a year after 2088 has the correct offsets', (t) => {
  for (const [index, zone] of zones.entries()) {
    const clock = zoneClock(zone)
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
    for (let n = 0; n < effort(4, 200); n += 1) {
      const day = (index * 7919 + n * 10_007) % (111 * 365)
      const instant = Date.UTC(2088, 0, 1) / 1000 + day * 86_400 + ((index + n) % 24) * 3600
      const wall = Date.parse(`${format.format(instant * 1000).replace(' ', 'T')}Z`) / 1000
      t.is(clock?.segmentAt(instant).offset, wall - instant, `${zone} at ${new Date(instant * 1000).toISOString()}`)
    }
  }
})

test('a cached result equals the result of a new search', (t) => {
  const zone = 'America/New_York'
  const clock = zoneClock(zone)
  for (const text of ['Sun *-3-8..14 02:30', 'Mon *-02-29 2:30', '2150-01-01', '2019-01-01', '*-02-29 12:00']) {
    const [line] = parseOnCalendar(text) ?? []
    if (!line) return t.fail(text)
    for (let n = 0; n < 300; n += 1) {
      const start = Date.UTC(2000, 0, 1) / 1000 + ((n * 7919) % 180) * 365 * 86_400
      const found = nextInWallTime({ pattern: line.pattern, clock }, start, 2199, 'skipped')
      t.is(
        nextOccurrence('oncalendar', `${text}\n${text}`, zone, start * 1e6),
        found === undefined ? null : found * 1e6,
      )
    }
  }
})

test('a schedule only in skipped hours of its zone is invalid', (t) => {
  t.true(isValidSchedule('Sun *-3-25..31 02:15', 'UTC'))
  t.false(isValidSchedule('Sun *-3-25..31 02:15\nSun *-3-25..31 02:30', 'Europe/Paris'))
  t.true(isValidSchedule('Sun *-3-25..31 02:15 UTC', 'Europe/Paris'), 'the zone of a line has precedence')
  t.false(isValidSchedule('* 2 25-31 3 */7', 'Europe/Paris'), 'cron in interval mode')
  t.true(isValidSchedule('30 2 25-31 3 */7', 'Europe/Paris'), 'cron at a fixed time is moved to the end of the gap')
  t.true(isValidSchedule('2019-01-01', 'Europe/Paris'))
})
