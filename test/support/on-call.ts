import { DAYS, type Day, type Layer, type OnCallFacts, type Override } from '#shared/monitoring/on-call/schedule.ts'
import { microsOfDate, microsOfSeconds } from '#shared/time.ts'
import type { Random } from './random.ts'

/** Zones with usual, half-hour, date-line and no clock changes. */
export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'America/Sao_Paulo',
  'Africa/Casablanca',
  'Pacific/Auckland',
  'America/St_Johns',
  'Asia/Gaza',
]

const WEEKDAYS = DAYS.slice(0, 7)
const PEOPLE = ['anna', 'ben', 'carl', 'dora', 'left']
const TIMES = ['00:00', '01:30', '02:00', '02:15', '02:30', '03:00', '09:00', '18:00', '22:00', '23:59']
const DAY = 86_400

/** Returns a schedule whose layers start in the ten days after `date`, with one former member. */
export function randomFacts(random: Random, tz: string, date: string): OnCallFacts {
  const { int, oneIn, pick } = random
  const day = (offset: number) => isoDate(Date.parse(`${date}T00:00Z`) / 1000 + offset * DAY)
  const holidays = oneIn(2) ? [day(int(20)), day(int(20))] : []
  const some = <T>(choices: readonly T[]) => choices.filter(() => oneIn(2))
  const hours = () => ({ days: some(DAYS), from: pick(TIMES), to: pick(TIMES) })
  const layers = Array.from({ length: 1 + int(4) }, (): Layer => {
    const start = day(int(10))
    const unit = pick(['hour', 'day', 'week'] as const)
    const every = unit === 'hour' ? pick([1, 2, 3, 4, 6, 8, 12]) : unit === 'day' ? 1 + int(4) : 1 + int(2)
    const startDay = dayOf(start, holidays)
    const on = unit === 'day' && oneIn(2) ? [...new Set([startDay, ...some(DAYS)])] : null
    return {
      name: '',
      people: Array.from({ length: int(5) }, () => pick(PEOPLE)),
      start: `${start}T${pick(TIMES)}`,
      end: oneIn(4) ? `${day(10 + int(10))}T${pick(TIMES)}` : null,
      rotation: { unit, every, on },
      hours: oneIn(2) ? [] : [hours(), hours()],
    }
  })
  const overrides = Array.from({ length: int(4) }, (_, index): Override => {
    const start = microsOfDate(new Date(`${day(int(20))}T${pick(TIMES)}Z`))
    const end = start + microsOfSeconds(60 + int(3 * DAY))
    const replaces = oneIn(2) ? pick(PEOPLE) : null
    return { number: index + 1, person: oneIn(4) ? null : pick(PEOPLE), replaces, start, end }
  })
  const fallback = oneIn(3) ? pick(PEOPLE) : null
  return { schedule: { tz, holidays, layers, fallback }, overrides, members: new Set(PEOPLE.slice(0, 4)) }
}

/**
 * Decides who is on call at each minute from `from` (Unix seconds), by reading a clock in the zone minute by minute:
 * a wall time has been reached when the clock has shown it or a later one. Starts before the first layer.
 */
export function* minuteSteps(
  facts: OnCallFacts,
  from: number,
  until: number,
): Generator<{ at: number; result: string }> {
  const { tz, holidays, layers, fallback } = facts.schedule
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: tz,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  })
  const states = layers.map(({ start }) => ({ wall: wallOf(start), counted: 0, shift: -1 }))
  let reached = 0
  for (let at = from - 2 * DAY; at < until; at += 60) {
    const [date, time = ''] = format.format(at * 1000).split(', ')
    reached = Math.max(reached, wallOf(`${date}T${time.slice(0, 5)}`))
    for (const [index, { rotation }] of layers.entries()) {
      const state = states[index]
      while (state && state.wall <= reached) {
        if (state.counted % rotation.every === 0) state.shift += 1
        const { unit, on } = rotation
        do state.wall += { hour: 3600, day: DAY, week: 7 * DAY }[unit]
        while (on && !on.includes(dayOf(isoDate(state.wall), holidays)) && state.wall < until + DAY)
        state.counted += 1
      }
    }
    if (at < from) continue
    let person: string | null = null
    for (const [index, layer] of layers.entries()) {
      const shift = states[index]?.shift ?? -1
      const isOver = layer.end !== null && wallOf(layer.end) <= reached
      if (person !== null || shift < 0 || isOver || layer.people.length === 0) continue
      const next = layer.people[shift % layer.people.length] ?? ''
      if (facts.members.has(next) && coversWall(layer, reached, holidays)) person = next
    }
    for (const override of facts.overrides) {
      const isOpen = override.start <= microsOfSeconds(at) && microsOfSeconds(at) < override.end
      const isIgnored = override.person !== null && !facts.members.has(override.person)
      if (isOpen && !isIgnored && (override.replaces === null || override.replaces === person)) person = override.person
    }
    if (person === null && fallback !== null && facts.members.has(fallback)) person = fallback
    yield { at, result: person ?? 'none' }
  }
}

function coversWall({ hours }: Layer, reached: number, holidays: readonly string[]): boolean {
  const today = Math.floor(reached / DAY) * DAY
  return (
    hours.length === 0 ||
    hours.some(({ days, from, to }) =>
      [today - DAY, today].some((date) => {
        if (!days.includes(dayOf(isoDate(date), holidays))) return false
        const end = date + secondsOf(to) + (to > from ? 0 : DAY)
        return date + secondsOf(from) <= reached && reached < end
      }),
    )
  )
}

function dayOf(date: string, holidays: readonly string[]): Day {
  return holidays.includes(date) ? 'hol' : (WEEKDAYS[(new Date(`${date}T00:00Z`).getUTCDay() + 6) % 7] ?? 'mon')
}

function wallOf(text: string): number {
  return Date.parse(`${text}Z`) / 1000
}

function isoDate(wall: number): string {
  return new Date(wall * 1000).toISOString().slice(0, 10)
}

function secondsOf(time: string): number {
  return Number(time.slice(0, 2)) * 3600 + Number(time.slice(3)) * 60
}
