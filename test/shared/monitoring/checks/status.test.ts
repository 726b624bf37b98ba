import test from 'ava'
import type { NextOccurrence } from '#shared/monitoring/checks/check.ts'
import { goingDownAt, graceStart, nextPing, shownStatus, shownStatusV1 } from '#shared/monitoring/checks/status.ts'
import { aCheck } from './factory.ts'

const T0 = Date.parse('2024-01-10T12:00:00Z') * 1000 + 123_456
const seconds = (count: number) => count * 1_000_000
const never: NextOccurrence = () => null
const times = { timeoutSeconds: 600, graceSeconds: 300 }

for (const [after, status] of [
  [599, 'up'],
  [600, 'grace'],
  [899, 'grace'],
  [900, 'down'],
] as const) {
  test(`a check with timeout 600 and grace 300 shows ${status} ${after} seconds after its success`, (t) => {
    t.is(shownStatus(aCheck({ ...times, status: 'up', lastPing: T0 }), T0 + seconds(after), never), status)
  })
}

test('the microsecond of a change belongs to the later status', (t) => {
  const check = aCheck({ ...times, status: 'up', lastPing: T0 })
  t.is(shownStatus(check, T0 + seconds(600) - 1, never), 'up')
  t.is(shownStatus(check, T0 + seconds(900) - 1, never), 'grace')
})

for (const status of ['new', 'paused', 'down'] as const) {
  test(`a check stored as ${status} shows ${status} and expects no ping`, (t) => {
    const check = aCheck({ ...times, status, lastPing: T0 })
    t.is(shownStatus(check, T0 + seconds(10_000), never), status)
    t.is(nextPing(check, never), null)
    t.is(goingDownAt(check, never), null)
  })
}

test('a run that overran its grace shows down regardless of the stored status', (t) => {
  for (const status of ['new', 'paused', 'up'] as const) {
    const check = aCheck({ ...times, status, lastPing: T0 + seconds(299), lastStart: T0 })
    t.is(shownStatus(check, T0 + seconds(300) - 1, never), status)
    t.is(shownStatus(check, T0 + seconds(300), never), 'down')
  }
})

test('version 1 shows a running check as started until it overruns', (t) => {
  const check = aCheck({ ...times, status: 'down', lastStart: T0 })
  t.is(shownStatusV1(check, T0 + seconds(299), never), 'started')
  t.is(shownStatusV1(check, T0 + seconds(300), never), 'down')
})

test('during a run the next ping is the earlier of start and due time', (t) => {
  const check = aCheck({ ...times, status: 'up', lastPing: T0, lastStart: T0 + seconds(700) })
  t.is(nextPing(check, never), T0 + seconds(600))
  t.is(nextPing({ ...check, lastStart: T0 + seconds(5) }, never), T0 + seconds(5))
  t.is(nextPing({ ...check, status: 'new' }, never), T0 + seconds(700))
  t.is(nextPing({ ...check, status: 'down' }, never), null)
  t.is(graceStart(check, never), T0 + seconds(600))
})

test('the deadline is the next occurrence plus grace', (t) => {
  const requested: unknown[] = []
  const next: NextOccurrence = (...question) => {
    requested.push(question)
    return T0 + seconds(1200)
  }
  const check = aCheck({
    ...times,
    kind: 'cron',
    schedule: '15 * * * *',
    tz: 'Europe/Riga',
    status: 'up',
    lastPing: T0,
  })
  t.is(goingDownAt(check, next), T0 + seconds(1500))
  t.deepEqual(requested, [['cron', '15 * * * *', 'Europe/Riga', T0]])
})

test('a check with an ended schedule stays up', (t) => {
  const check = aCheck({ kind: 'oncalendar', schedule: '2019-01-01', status: 'up', lastPing: T0 })
  t.is(shownStatus(check, T0 * 2, never), 'up')
  t.is(goingDownAt(check, never), null)
})
