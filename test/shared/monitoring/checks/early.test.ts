import { readFileSync } from 'node:fs'
import test from 'ava'
import { countFailures } from '#shared/monitoring/alerting/failures.ts'
import { countedAt, earlyLimit, missedByEarly } from '#shared/monitoring/checks/early.ts'
import { applySignal, sweep } from '#shared/monitoring/checks/state-machine.ts'
import { goingDownAt, nextPing, shownStatus } from '#shared/monitoring/checks/status.ts'
import { countMissed } from '#shared/monitoring/rules/deadline.ts'
import { staleAt } from '#shared/monitoring/rules/quorum.ts'
import { guessKind, nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { microsOfDate, microsOfSeconds, toIsoSeconds } from '#shared/time.ts'
import { effort } from '../../../support/effort.ts'
import { randomOf } from '../../../support/random.ts'
import { aCheck } from './factory.ts'

const at = (text: string) => microsOfDate(new Date(text))
const seconds = microsOfSeconds
const shown = (instant: number | null) => instant && toIsoSeconds(instant).replace('+00:00', 'Z')

interface Vector {
  schedule: string
  tz: string
  grace: number
  early: number
  cases: [ping: string, length: number | null, next: string | null, down: string | null][]
}

const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('../../../vectors/early-pings.json', import.meta.url), 'utf8'),
)

test('counts an early ping for the occurrence that follows it', (t) => {
  for (const { schedule, tz, grace, early, cases } of vectors) {
    for (const [ping, length, next, down] of cases) {
      const kind = guessKind(schedule)
      const settings = { kind, schedule, tz, graceSeconds: grace, earlySeconds: early }
      const lastDuration = length === null ? null : seconds(length)
      const check = aCheck({ ...settings, status: 'up', lastPing: at(ping), lastDuration })
      t.is(shown(nextPing(check, nextOccurrence)), next, `${schedule} ${ping}`)
      t.is(shown(goingDownAt(check, nextOccurrence)), down, `${schedule} ${ping}`)
      if (length === null) continue
      const measured = aCheck({ ...settings, lastStart: at(ping) - seconds(length) })
      applySignal(measured, { kind: 'success', at: at(ping), rid: null }, nextOccurrence)
      t.is(shown(measured.alertAfter), down, `measured: ${schedule} ${ping}`)
    }
  }
})

const SCHEDULES = ['0 3 * * *', '*/15 * * * *', '30 2 * * *', '0 9,17 * * mon-fri', 'Sun *-*-* 02:30:00', '7 1 29 2 *']
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata']

test('decides by the nearest occurrence, for any schedule and instant', (t) => {
  const { int, pick } = randomOf(7)
  for (let n = 0; n < effort(2_000, 50_000); n++) {
    const schedule = pick(SCHEDULES)
    const kind = guessKind(schedule)
    const tz = pick(ZONES)
    const early = pick([0, 1, 60, 600, 3_600, 86_400])
    const length = pick([0, 1, 59, 3_600, 90_000])
    // Half of the instants are near a clock change.
    const around = pick([
      '2026-03-29T01:00:00Z',
      '2026-10-25T01:00:00Z',
      '2026-11-01T06:00:00Z',
      '2026-06-01T00:00:00Z',
    ])
    const ping = at(around) + seconds(int(400_000) - 200_000)
    const check = aCheck({ kind, schedule, tz, earlySeconds: early })
    const counted = countedAt(check, { at: ping, duration: seconds(length) }, nextOccurrence)

    const began = ping - seconds(length)
    const following = nextOccurrence(kind, schedule, tz, began)
    let before: number | null = null
    let step = nextOccurrence(kind, schedule, tz, began - seconds(86_400))
    for (; step !== null && step <= began; step = nextOccurrence(kind, schedule, tz, step)) before = step
    const distance = following === null ? Number.POSITIVE_INFINITY : following - began
    const isEarly = early > 0 && distance <= seconds(early) && (before === null || began - before >= distance)
    const message = `${schedule} ${tz} early ${early}, ${toIsoSeconds(ping)} after ${length} s`
    t.is(counted, isEarly ? Math.max(ping, following ?? 0) : ping, message)
    const later = countedAt(check, { at: ping + seconds(int(7_200)), duration: null }, nextOccurrence)
    t.true(later >= countedAt(check, { at: ping, duration: null }, nextOccurrence), `one after the other: ${message}`)
  }
})

const DAILY = { kind: 'cron', schedule: '0 3 * * *', tz: 'UTC', graceSeconds: 600, earlySeconds: 60 } as const

test('keeps a check up that is pinged shortly before each occurrence', (t) => {
  const check = aCheck(DAILY)
  for (let day = 20; day < 27; day++) {
    const ping = at(`2026-11-${day}T02:59:20Z`)
    t.is(sweep(check, ping, nextOccurrence).kind, 'leave')
    applySignal(check, { kind: 'success', at: ping, rid: null }, nextOccurrence)
    t.is(shownStatus(check, ping + seconds(700), nextOccurrence), 'up')
  }
  t.is(sweep(check, at('2026-11-27T03:10:01Z'), nextOccurrence).kind, 'down')
})

test('counts missed runs, failures and sources from the occurrence of an early ping', (t) => {
  const lastPing = at('2026-11-20T02:59:20Z')
  const check = aCheck({ ...DAILY, lastPing })
  const now = at('2026-11-21T03:20:00Z')
  t.is(countMissed(check, { lastPing, beganAt: null, at: now }, nextOccurrence), 1)
  const counting = { need: 1, of: null, downAt: at('2026-11-21T03:10:00Z'), now }
  t.is(countFailures(check, [{ at: lastPing, ok: true }], counting).have, 1)
  const source = { name: 'a', heardAt: lastPing, lastPing, lastKind: 'success', deadlineExtendedAt: null } as const
  t.is(shown(staleAt(check, { expectedFrom: null }, source, nextOccurrence)), '2026-11-21T03:10:00Z')
})

test('takes the later of an early ping and an extended deadline', (t) => {
  const check = aCheck({ ...DAILY, status: 'up', lastPing: at('2026-11-20T02:59:20Z') })
  const extended = (text: string) => shown(goingDownAt({ ...check, deadlineExtendedAt: at(text) }, nextOccurrence))
  t.is(extended('2026-11-20T02:59:50Z'), '2026-11-21T03:10:00Z')
  t.is(extended('2026-11-21T04:00:00Z'), '2026-11-22T03:10:00Z')
})

test('offers the setting after a success at most an hour too early', (t) => {
  const down = at('2026-11-20T03:10:00Z')
  const early = (success: string) => missedByEarly(aCheck(DAILY), at(success), down)?.early ?? null
  t.is(early('2026-11-20T02:58:30Z'), seconds(90))
  t.is(early('2026-11-20T02:00:00Z'), seconds(3_600))
  t.is(early('2026-11-20T01:59:59Z'), null)
  t.is(early('2026-11-20T03:00:00Z'), null)
  t.is(missedByEarly(aCheck({ ...DAILY, kind: 'simple' }), down - 1, down), null)
  const hourly = ['2026-11-20T03:00:00Z', '2026-11-20T04:00:00Z', '2026-11-20T04:30:00Z'].map(at)
  t.is(earlyLimit(hourly), seconds(900))
  t.is(earlyLimit([down]), null)
})
