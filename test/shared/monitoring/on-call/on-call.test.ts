import { readFileSync } from 'node:fs'
import test from 'ava'
import { hoursSpans, layerSpans, nextHandoff } from '#shared/monitoring/on-call/layer.ts'
import { nextChange, onCallAt, onCallSpans, shifts } from '#shared/monitoring/on-call/on-call.ts'
import { DAYS, type Hours, type Layer, type OnCallFacts } from '#shared/monitoring/on-call/schedule.ts'
import { calendarOf, wallSeconds, wallText } from '#shared/monitoring/on-call/wall-time.ts'
import { microsOfDate, microsOfSeconds, toIsoSeconds, toSeconds } from '#shared/time.ts'
import { effort } from '../../../support/effort.ts'
import { minuteSteps, randomFacts, ZONES } from '../../../support/on-call.ts'
import { randomOf } from '../../../support/random.ts'

const at = (text: string) => microsOfDate(new Date(text))
const DAY = microsOfSeconds(86_400)

interface Vector {
  id: string
  tz: string
  holidays?: string[]
  left?: string[]
  fallback?: string
  layers: { people: string[]; start: string; end?: string; rotation: Partial<Layer['rotation']>; hours?: Hours[] }[]
  overrides?: { person: string | null; replaces?: string; start: string; end: string }[]
  expect: [instant: string, person: string | null, source: string][]
}

const vectors: Vector[] = JSON.parse(readFileSync(new URL('../../../vectors/on-call.json', import.meta.url), 'utf8'))

function factsOf({ tz, holidays = [], left = [], fallback = '', layers, overrides = [] }: Vector): OnCallFacts {
  const people = [...layers.flatMap((layer) => layer.people), ...overrides.map(({ person }) => person ?? ''), fallback]
  return {
    members: new Set(people.filter((person) => !left.includes(person))),
    schedule: {
      tz,
      holidays,
      fallback: fallback || null,
      layers: layers.map(({ people, start, end = null, rotation, hours = [] }) => {
        const { unit = 'week', every = 1, on = null } = rotation
        return { name: '', people, start, end, rotation: { unit, every, on }, hours }
      }),
    },
    overrides: overrides.map(({ person, replaces = null, start, end }, index) => {
      return { number: index + 1, person, replaces, start: at(start), end: at(end) }
    }),
  }
}

test('names the person and the source of each vector', (t) => {
  for (const vector of vectors) {
    const facts = factsOf(vector)
    for (const [instant, person, source] of vector.expect) {
      t.deepEqual(onCallAt(facts, at(instant)), { person, source } as never, `${vector.id} ${instant}`)
    }
  }
})

/** Instants near clock changes of most zones, and others. */
const DATES = ['2026-03-02', '2026-03-25', '2026-04-01', '2026-09-30', '2026-10-22', '2026-10-28', '2027-07-01']

test('agrees with a second implementation that steps minute by minute', (t) => {
  for (let n = 0; n < effort(12, 40); n += 1) {
    const random = randomOf(31, n)
    const tz = random.pick(ZONES)
    const date = random.pick(DATES)
    const facts = randomFacts(random, tz, date)
    const from = toSeconds(at(`${date}T00:00Z`)) - 86_400
    const until = from + 16 * 86_400
    const spans = onCallSpans(facts, microsOfSeconds(from), microsOfSeconds(until))
    let index = 0
    for (const { at: second, result } of minuteSteps(facts, from, until)) {
      while ((spans[index]?.until ?? Number.POSITIVE_INFINITY) <= microsOfSeconds(second)) index += 1
      const found = spans[index]?.person ?? 'none'
      if (found !== result) t.is(found, result, `case ${n}: ${tz} ${toIsoSeconds(microsOfSeconds(second))}`)
    }
  }
  t.pass()
})

test('resolves later wall times to later instants', (t) => {
  for (const tz of ZONES) {
    const { resolve, wallAt } = calendarOf({ tz, holidays: [] })
    const start = wallSeconds('2026-01-01T00:00')
    let before = resolve(start - 900)
    for (let wall = start; wall < start + 366 * 86_400; wall += 900) {
      const instant = resolve(wall)
      if (instant < before || wallAt(instant) < wall || wallAt(instant - microsOfSeconds(1)) >= wallAt(instant))
        t.true(isFirstPass(instant, wall), `${tz} ${wallText(wall)}`)
      before = instant
    }

    /** Returns true if the clock shows `wall` or a later time for the first time at this instant. */
    function isFirstPass(instant: number, wall: number): boolean {
      return instant >= before && wallAt(instant) >= wall && wallAt(instant - microsOfSeconds(1)) < wall
    }
  }
  t.pass()
})

test('lists shifts that agree with each single instant', (t) => {
  for (const [n, tz] of ZONES.entries()) {
    const random = randomOf(5, n)
    const date = random.pick(DATES)
    const facts = randomFacts(random, tz, date)
    const from = at(`${date}T00:00Z`)
    const list = shifts(facts, from, from + 40 * DAY)
    for (let i = 0; i < effort(300, 1_000); i += 1) {
      const instant = from + random.int(40) * DAY + microsOfSeconds(random.int(86_400))
      const shift = list.find((each) => each.from <= instant && instant < each.until)
      t.is(shift?.person ?? null, onCallAt(facts, instant).person, `${tz} ${toIsoSeconds(instant)}`)
    }
    for (const [index, { person, from: begin }] of list.entries()) {
      const previous = list[index - 1]
      t.false(previous?.person === person && previous.until === begin, 'one person, one shift')
    }
  }
})

test('finds the next change to the second', (t) => {
  for (let n = 0; n < 40; n += 1) {
    const random = randomOf(9, n)
    const facts = randomFacts(random, random.pick(ZONES), random.pick(DATES))
    let instant = at('2026-03-01T00:00Z')
    for (let i = 0; i < 20; i += 1) {
      const next = nextChange(facts, instant)
      if (next === null) break
      const { person } = onCallAt(facts, instant)
      t.is(onCallAt(facts, next - 1).person, person)
      t.not(onCallAt(facts, next).person, person)
      instant = next
    }
  }
})

test('never overlaps and never leaves a gap between complementary hours', (t) => {
  const days = [...DAYS]
  for (const tz of ZONES) {
    const calendar = calendarOf({ tz, holidays: ['2026-12-25'] })
    const from = at('2026-01-01T00:00Z')
    const until = from + 5 * 365 * DAY
    for (const [a, b] of [
      ['02:30', '09:00'],
      ['22:00', '02:00'],
      ['00:00', '02:15'],
    ] as const) {
      const parts = [
        { from: a, to: b },
        { from: b, to: a },
      ].map((time) => hoursSpans([{ days, ...time }], calendar, from, until))
      const all = parts.flat().toSorted((one, other) => one.from - other.from)
      t.is(all[0]?.from, from, tz)
      t.is(all.at(-1)?.until, until, tz)
      for (const [index, span] of all.entries()) if (index > 0 && all[index - 1]?.until !== span.from) t.fail(tz)
    }
  }
})

test('finds the next handoff as a wall time with the next person', (t) => {
  const facts = factsOf(vectors.find(({ id }) => id === 'N') as Vector)
  const [layer] = facts.schedule.layers as [Layer]
  const calendar = calendarOf(facts.schedule)
  const next = nextHandoff(layer, calendar, at('2026-12-24T12:00:00Z'))
  t.deepEqual(next && [wallText(next.wall), next.index], ['2026-12-28T09:00', 1])
})

test('computes handoffs without stepping from the start of a layer', (t) => {
  const calendar = calendarOf({ tz: 'Europe/Berlin', holidays: [] })
  const from = at('2026-01-01T00:00Z')
  const callsOf = (start: string, rotation: Layer['rotation']) => {
    let calls = 0
    const layer: Layer = { name: '', people: ['anna', 'ben'], start, end: null, rotation, hours: [] }
    const resolve = (wall: number) => {
      calls += 1
      return calendar.resolve(wall)
    }
    const spans = layerSpans(layer, { ...calendar, resolve }, from, from + 10 * DAY)
    t.true(spans.length > 5)
    return calls - spans.length
  }
  for (const unit of ['hour', 'day'] as const) t.true(callsOf('1990-01-01T09:00', { unit, every: 1, on: null }) < 10)
  const on = DAYS.slice(0, 5)
  t.true(callsOf('1990-01-01T09:00', { unit: 'day', every: 1, on }) < 10)
})
