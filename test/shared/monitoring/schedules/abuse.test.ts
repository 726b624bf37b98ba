import test from 'ava'
import { parseCron } from '#shared/monitoring/schedules/cron.ts'
import { nextInRealTime, nextInWallTime } from '#shared/monitoring/schedules/occurrences.ts'
import { parseOnCalendar } from '#shared/monitoring/schedules/on-calendar.ts'
import { isValidSchedule, nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import type { WallPattern } from '#shared/monitoring/schedules/wall-pattern.ts'
import { type ZoneClock, zoneClock } from '#shared/monitoring/schedules/zone-clock.ts'

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
  test(`B26: ${title} is no schedule, and asking for its next occurrence gives none`, (t) => {
    t.false(isValidSchedule(expression))
    t.is(nextOccurrence('cron', expression, 'Europe/Riga', startOf2026 * 1e6), null)
    t.is(nextOccurrence('oncalendar', expression, 'Europe/Riga', startOf2026 * 1e6), null)
  })
}

test('an unknown zone gives no occurrence instead of an error', (t) => {
  for (const tz of ['', 'utc', '../../etc/passwd', 'Europe/Surprise']) {
    t.is(nextOccurrence('cron', '* * * * *', tz, startOf2026 * 1e6), null)
    t.is(nextOccurrence('oncalendar', '*:*', tz, startOf2026 * 1e6), null)
  }
})

test('a huge step leaves the first value of the field', (t) => {
  t.is(nextOccurrence('cron', `*/${'9'.repeat(400)} * * * *`, 'UTC', startOf2026 * 1e6), (startOf2026 + 3600) * 1e6)
})

/** Counts how often a search asks its pattern and its clock. */
function counted(pattern: WallPattern, clock: ZoneClock) {
  const count = { asked: 0 }
  return {
    count,
    zoned: {
      pattern: {
        nextAfter(after: number, lastYear: number) {
          count.asked += 1
          return pattern.nextAfter(after, lastYear)
        },
      },
      clock: {
        segmentAt(instant: number) {
          count.asked += 1
          return clock.segmentAt(instant)
        },
        place(wall: number) {
          count.asked += 1
          return clock.place(wall)
        },
      },
    },
  }
}

for (const zone of ['Europe/Riga', 'Africa/Casablanca', 'Antarctica/Troll', 'Australia/Lord_Howe']) {
  test(`B26: a search in ${zone} takes few steps, however rare the occurrence`, (t) => {
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
        t.true(count.asked <= 30, `${count.asked}`)
      }
      for (const line of lines) {
        if (!clock) return t.fail()
        const { count, zoned } = counted(line.pattern, clock)
        nextInWallTime(zoned, after, 2199, 'skipped')
        t.true(count.asked <= 30, `${count.asked}`)
      }
    }
  })
}
