import test from 'ava'
import { nextOccurrence, type ScheduleKind } from '#shared/monitoring/schedules/schedule.ts'

const MINUTE = 60_000_000
const DAY = 1440 * MINUTE

const at = (iso: string) => Date.parse(iso) * 1000

test('an hourly check expects a ping in both repeated hours', (t) => {
  // Europe/Riga, 29 October 2023: last ping 03:55 in the first pass, next 03:15 in the second.
  const next = nextOccurrence('cron', '15 * * * *', 'Europe/Riga', at('2023-10-29T00:55:00Z'))
  t.is(next, at('2023-10-29T01:15:00Z'))
  t.is(Number(next) + 300_000_000, at('2023-10-29T01:20:00Z'))
})

/** Expressions, each with a function that returns true for its local times. */
const expressions: [
  kind: ScheduleKind,
  expression: string,
  mode: 'real' | 'moved' | 'skipped',
  fires: (wall: Date) => boolean,
][] = [
  ['cron', '*/20 * * * *', 'real', (wall) => wall.getUTCMinutes() % 20 === 0],
  ['cron', '30 * * * *', 'real', (wall) => wall.getUTCMinutes() === 30],
  ['cron', '*/7 1-3 * * 0', 'real', (wall) => isSunday(wall) && inHours(wall, 1, 3) && wall.getUTCMinutes() % 7 === 0],
  ['cron', '* 0 * * *', 'real', (wall) => wall.getUTCHours() === 0],
  ['cron', '15,45 0-3 * * *', 'moved', (wall) => inHours(wall, 0, 3) && wall.getUTCMinutes() % 30 === 15],
  ['cron', '0 2 * * 0', 'moved', (wall) => isSunday(wall) && isTime(wall, 2, 0)],
  ['cron', '30 0,1 * * *', 'moved', (wall) => inHours(wall, 0, 1) && wall.getUTCMinutes() === 30],
  ['oncalendar', '*:0/20', 'skipped', (wall) => wall.getUTCMinutes() % 20 === 0],
  [
    'oncalendar',
    'Sun 0..3:15',
    'skipped',
    (wall) => isSunday(wall) && inHours(wall, 0, 3) && wall.getUTCMinutes() === 15,
  ],
]
const changes: [zone: string, around: string][] = [
  ['Europe/Berlin', '2025-03-30'],
  ['Europe/Berlin', '2025-10-26'],
  ['America/New_York', '2025-03-09'],
  ['America/New_York', '2025-11-02'],
  ['Australia/Lord_Howe', '2025-04-06'],
  ['Australia/Lord_Howe', '2025-10-05'],
  ['Antarctica/Troll', '2025-03-30'],
  ['Antarctica/Troll', '2025-10-26'],
  ['America/Havana', '2025-03-09'],
  ['America/Havana', '2025-11-02'],
  ['Asia/Kolkata', '2025-03-30'],
  ['Pacific/Apia', '2011-12-30'],
  ['Africa/Casablanca', '2025-02-23'],
  ['Africa/Casablanca', '2025-04-06'],
  ['America/St_Johns', '2011-03-13'],
  ['Asia/Pyongyang', '2018-05-05'],
  ['America/Caracas', '2016-05-01'],
]

for (const [zone, day] of changes) {
  test(`around ${day} in ${zone}, occurrences equal those of a minute-by-minute search`, (t) => {
    const start = at(`${day}T00:00:00Z`) - 2 * DAY
    const end = start + 5 * DAY
    const wallAt = wallClock(zone)
    for (const [kind, expression, mode, fires] of expressions) {
      const expected = walk(wallAt, start, end, mode, fires)
      // Every 17th minute covers starts before, within and after gaps and second passes.
      for (let after = start; after < end - DAY; after += 17 * MINUTE) {
        const found = nextOccurrence(kind, expression, zone, after + 59_999_999)
        const next = expected.find((instant) => instant > after + 59_000_000)
        if (next === undefined) t.true(found === null || found >= end, expression)
        else t.is(found, next, `${expression} after ${new Date(after / 1000).toISOString()}`)
      }
    }
  })
}

test('occurrences increase strictly over years', (t) => {
  for (const zone of ['UTC', 'Europe/Riga', 'America/Sao_Paulo', 'Africa/Casablanca']) {
    for (const [kind, expression] of expressions) {
      let after = at('2024-01-01T00:00:00Z')
      for (let count = 0; count < 1500; count += 1) {
        const next = nextOccurrence(kind, expression, zone, after)
        if (next === null || next <= after) return t.fail(`${expression} in ${zone} after ${after}`)
        // Every instant between two occurrences leads to the later one.
        const between = after + Math.floor((next - after) / 2)
        if (nextOccurrence(kind, expression, zone, between) !== next) return t.fail(`${expression} in ${zone}`)
        after = next
      }
    }
  }
  t.pass()
})

function isSunday(wall: Date): boolean {
  return wall.getUTCDay() === 0
}

function inHours(wall: Date, first: number, last: number): boolean {
  return wall.getUTCHours() >= first && wall.getUTCHours() <= last
}

function isTime(wall: Date, hour: number, minute: number): boolean {
  return wall.getUTCHours() === hour && wall.getUTCMinutes() === minute
}

/** Returns the local time as a Date with the same UTC fields. Uses Intl directly, with other options than the product. */
function wallClock(timeZone: string): (instant: number) => Date {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return (instant) => new Date(`${format.format(instant / 1000).replace(' ', 'T')}Z`)
}

/** Returns all occurrences between two instants by testing every minute (docs/spec/monitoring.md#cron). */
function walk(
  wallAt: (instant: number) => Date,
  start: number,
  end: number,
  mode: 'real' | 'moved' | 'skipped',
  fires: (wall: Date) => boolean,
): number[] {
  const found = new Set<number>()
  let latestWall = wallAt(start - MINUTE).getTime()
  for (let instant = start; instant < end; instant += MINUTE) {
    const wall = wallAt(instant)
    if (mode === 'real') {
      if (fires(wall)) found.add(instant)
      continue
    }
    if (mode === 'moved') {
      for (let skipped = latestWall + 60_000; skipped < wall.getTime(); skipped += 60_000) {
        if (fires(new Date(skipped))) found.add(instant)
      }
    }
    // A local time that is not later than a previous one belongs to a second pass.
    if (wall.getTime() > latestWall && fires(wall)) found.add(instant)
    latestWall = Math.max(latestWall, wall.getTime())
  }
  return [...found]
}
