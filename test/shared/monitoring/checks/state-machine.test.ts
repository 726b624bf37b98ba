import test from 'ava'
import type { Check, StoredStatus } from '#shared/monitoring/checks/check.ts'
import {
  applySignal,
  type PingType,
  pause,
  resume,
  type StatusChange,
  sweep,
} from '#shared/monitoring/checks/state-machine.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { toIsoMicros } from '#shared/time.ts'
import { aCheck } from './factory.ts'

const T0 = Date.parse('2024-01-10T12:00:00Z') * 1000 + 123_456
const A = '11111111-1111-1111-1111-111111111111'
const B = '22222222-2222-2222-2222-222222222222'
const never = () => null
const seconds = (count: number) => Math.round(count * 1_000_000)

/** Plays events, given in seconds after T0, on one check with timeout 600 and grace 300. */
function play(changes: Partial<Check> = {}) {
  const check = aCheck({ timeoutSeconds: 600, graceSeconds: 300, ...changes })
  const flips: StatusChange[] = []
  const note = (flip: StatusChange | null) => {
    if (flip) flips.push(flip)
    return flip
  }
  return {
    check,
    flips,
    path: () => flips.map((flip) => `${flip.from} to ${flip.to}`),
    ping(kind: PingType, after: number, rid: string | null = null) {
      const outcome = applySignal(check, { kind, at: T0 + seconds(after), rid }, never)
      note(outcome.flip)
      return outcome
    },
    sweep(after: number, micros = 0) {
      const decision = sweep(check, T0 + seconds(after) + micros, never)
      if (decision.kind === 'down') {
        check.status = 'down'
        check.alertAfter = null
        note(decision.flip)
      }
      return decision
    },
    pause: () => note(pause(check)),
    resume: () => note(resume(check)),
  }
}

const KINDS = ['success', 'fail', 'start', 'log', 'ign'] as const

interface Row {
  from: StoredStatus
  manualResume?: boolean
  becomes: [StoredStatus, StoredStatus, StoredStatus, StoredStatus, StoredStatus]
}

// The table of transitions; the columns are the kinds above.
const rows: Row[] = [
  { from: 'new', becomes: ['up', 'down', 'new', 'new', 'new'] },
  { from: 'up', becomes: ['up', 'down', 'up', 'up', 'up'] },
  { from: 'down', becomes: ['up', 'down', 'down', 'down', 'down'] },
  { from: 'paused', becomes: ['up', 'down', 'new', 'paused', 'paused'] },
  { from: 'paused', manualResume: true, becomes: ['paused', 'paused', 'paused', 'paused', 'paused'] },
]
for (const { from, manualResume = false, becomes } of rows) {
  for (const [index, kind] of KINDS.entries()) {
    const to = becomes[index]
    test(`a ${kind} ping turns a check that was ${from}${manualResume ? ', resumed by hand,' : ''} into ${to}`, (t) => {
      const { check, ping } = play({ status: from, manualResume })
      const { type, flip } = ping(kind, 0)
      const ignored = manualResume || kind === 'ign'
      t.is(check.status, to ?? from)
      t.is(type, ignored ? 'ign' : kind)
      t.is(check.nPings, 1)
      t.is(check.lastStart !== null, kind === 'start' && !ignored)
      t.is(check.lastPing !== null, (kind === 'success' || kind === 'fail') && !ignored)
      if (from === to) {
        t.is(flip, null)
      } else {
        const reason = kind === 'fail' ? 'fail' : ''
        t.like(flip, { from, to, reason, processed: kind === 'start' })
      }
    })
  }
}

for (const from of ['new', 'up', 'down', 'paused'] as const) {
  test(`pausing a check that is ${from} and resuming it`, (t) => {
    const { check, ...events } = play({ status: from, lastPing: T0, lastStart: T0, lastStartRid: A, lastDuration: 5 })
    if (from === 'paused') t.is(events.pause(), null)
    else t.deepEqual(events.pause(), { from, to: 'paused', reason: '', processed: true })
    if (from !== 'paused') t.like(check, { status: 'paused', lastPing: T0, lastStart: null, lastDuration: 5 })
    t.deepEqual(events.resume(), { from: 'paused', to: 'new', reason: '', processed: true })
    t.like(check, { status: 'new', lastPing: null, lastStart: null, lastStartRid: null, alertAfter: null })
    t.is(check.lastDuration, 5)
    t.is(events.resume(), null, 'a check that is not paused cannot be resumed')
  })
}

test('a check exactly at its deadline is not swept, and one microsecond later its flip is dated at the deadline', (t) => {
  const { check, ping, sweep } = play()
  ping('success', 0)
  t.is(shownStatus(check, T0 + seconds(900), never), 'down')
  t.deepEqual(sweep(900), { kind: 'leave' })
  const decision = sweep(900, 1)
  t.is(decision.kind === 'down' && toIsoMicros(decision.at), '2024-01-10T12:15:00.123456+00:00')
  t.like(decision, { flip: { from: 'up', to: 'down', reason: 'timeout', processed: false } })
  t.deepEqual(sweep(901), { kind: 'leave' }, 'a check that is down is left alone')
})

test('a check whose deadline has moved on is looked at again later', (t) => {
  const { check, ping, sweep } = play()
  ping('success', 0)
  check.timeoutSeconds = 6000
  t.deepEqual(sweep(1000), { kind: 'look-again', alertAfter: T0 + seconds(6300) })
})

test('a start on a new check leaves it new, started, and due after its grace', (t) => {
  const { check, ping, sweep } = play()
  ping('start', 0)
  t.like(check, { status: 'new', lastStart: T0, alertAfter: T0 + seconds(300) })
  t.like(sweep(301), { kind: 'down', at: T0 + seconds(300), flip: { from: 'new', reason: 'timeout' } })
  t.is(check.lastStart, T0, 'a late finish is still measured')
})

test('a success that comes after an unswept deadline leaves no trace of the outage', (t) => {
  const { check, ping, path } = play()
  ping('success', 0)
  ping('start', 0)
  ping('success', 301)
  t.deepEqual(path(), ['new to up'])
  t.is(check.lastDuration, seconds(301))
})

test('a start while down does not alert again, and the finish is measured', (t) => {
  const { check, ping, sweep, path } = play()
  ping('fail', 0)
  ping('start', 0)
  t.is(check.alertAfter, null)
  t.deepEqual(sweep(301), { kind: 'leave' })
  ping('success', 301)
  t.deepEqual(path(), ['new to down', 'down to up'])
  t.is(check.lastDuration, seconds(301))
})

test('a start ends a pause, and a run that then overruns goes down by timeout', (t) => {
  const { ping, sweep, path, flips, ...events } = play()
  ping('success', 0)
  events.pause()
  ping('start', 0)
  sweep(301)
  t.deepEqual(path(), ['new to up', 'up to paused', 'paused to new', 'new to down'])
  t.deepEqual(
    flips.map((flip) => flip.processed),
    [false, true, true, false],
  )
})

test('a check to be resumed by hand counts what it ignores', (t) => {
  const { check, ping, ...events } = play({ manualResume: true })
  ping('success', 0)
  events.pause()
  t.deepEqual(
    (['success', 'start', 'fail', 'log'] as const).map((kind) => ping(kind, 1).type),
    ['ign', 'ign', 'ign', 'ign'],
  )
  t.like(check, { status: 'paused', nPings: 5, lastPing: T0 })
})

interface RunCase {
  title: string
  events: [PingType, number, (string | null)?][]
  status: StoredStatus
  started: boolean
  /** seconds */
  duration: number | null
}

const runs: RunCase[] = [
  {
    title: 'start and success',
    events: [
      ['start', 0],
      ['success', 100],
    ],
    status: 'up',
    started: false,
    duration: 100,
  },
  {
    title: 'another run id does not close a run',
    events: [
      ['start', 0, A],
      ['success', 10, B],
    ],
    status: 'up',
    started: true,
    duration: null,
  },
  {
    title: 'its own run id closes it then',
    events: [
      ['start', 0, A],
      ['success', 10, B],
      ['success', 15, A],
    ],
    status: 'up',
    started: false,
    duration: 15,
  },
  {
    title: 'a success without run id closes any run unmeasured',
    events: [
      ['start', 0, A],
      ['success', 10],
    ],
    status: 'up',
    started: false,
    duration: null,
  },
  {
    title: 'a success with run id does not close a run without',
    events: [
      ['start', 0],
      ['success', 10, A],
    ],
    status: 'up',
    started: true,
    duration: null,
  },
  {
    title: 'a success without run id measures a run without',
    events: [
      ['start', 0],
      ['success', 10, A],
      ['success', 15],
    ],
    status: 'up',
    started: false,
    duration: 15,
  },
  {
    title: 'a fail closes any run',
    events: [
      ['start', 0, A],
      ['fail', 10, B],
    ],
    status: 'down',
    started: false,
    duration: null,
  },
  {
    title: 'a second start replaces the first',
    events: [
      ['start', 0, A],
      ['start', 5, B],
      ['success', 10, A],
    ],
    status: 'up',
    started: true,
    duration: null,
  },
  {
    title: 'the second start is the one measured',
    events: [
      ['start', 0, A],
      ['start', 5, B],
      ['success', 10, A],
      ['success', 15, B],
    ],
    status: 'up',
    started: false,
    duration: 10,
  },
  {
    title: 'a short run is measured',
    events: [
      ['start', 0],
      ['success', 0.4],
    ],
    status: 'up',
    started: false,
    duration: 0.4,
  },
  {
    title: 'a run of 73 hours is measured',
    events: [
      ['start', 0],
      ['success', 262_800],
    ],
    status: 'up',
    started: false,
    duration: 262_800,
  },
  {
    title: 'a success without start forgets the last duration',
    events: [
      ['start', 0],
      ['success', 5],
      ['success', 9],
    ],
    status: 'up',
    started: false,
    duration: null,
  },
]
for (const { title, events, status, started, duration } of runs) {
  test(`runs: ${title}`, (t) => {
    const { check, ping } = play()
    for (const event of events) ping(...event)
    t.is(check.status, status)
    t.is(check.lastStart !== null, started)
    t.is(check.lastDuration, duration === null ? null : seconds(duration))
  })
}
