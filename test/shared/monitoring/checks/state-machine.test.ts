import test from 'ava'
import type { StoredStatus } from '#shared/monitoring/checks/check.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { toIsoMicros } from '#shared/time.ts'
import { A, never, play, seconds, T0 } from './play.ts'

const KINDS = ['success', 'fail', 'start', 'log', 'ign'] as const

interface Row {
  from: StoredStatus
  manualResume?: boolean
  becomes: [StoredStatus, StoredStatus, StoredStatus, StoredStatus, StoredStatus]
}

// Table of transitions; its columns are the kinds above.
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
    test(`a ${kind} ping changes a check that was ${from}${manualResume ? ', resumed by hand,' : ''} to ${to}`, (t) => {
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

test('a check goes down one microsecond after its deadline, dated at it', (t) => {
  const { check, ping, sweep } = play()
  ping('success', 0)
  t.is(shownStatus(check, T0 + seconds(900), never), 'down')
  t.deepEqual(sweep(900), { kind: 'leave' })
  const decision = sweep(900, 1)
  t.is(decision.kind === 'down' && toIsoMicros(decision.at), '2024-01-10T12:15:00.123456+00:00')
  t.like(decision, { flip: { from: 'up', to: 'down', reason: 'timeout', processed: false } })
  t.deepEqual(sweep(901), { kind: 'leave' }, 'a check that is down is not evaluated')
})

test('a check with a later deadline is evaluated again later', (t) => {
  const { check, ping, sweep } = play()
  ping('success', 0)
  check.timeoutSeconds = 6000
  t.deepEqual(sweep(1000), { kind: 'look-again', alertAfter: T0 + seconds(6300) })
})

test('a start keeps a new check new and sets its deadline', (t) => {
  const { check, ping, sweep } = play()
  ping('start', 0)
  t.like(check, { status: 'new', lastStart: T0, alertAfter: T0 + seconds(300) })
  t.like(sweep(301), { kind: 'down', at: T0 + seconds(300), flip: { from: 'new', reason: 'timeout' } })
  t.is(check.lastStart, T0, 'a late finish is still measured')
})

test('a success after an unswept deadline records no outage', (t) => {
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

test('a manually resumed check counts ignored pings', (t) => {
  const { check, ping, ...events } = play({ manualResume: true })
  ping('success', 0)
  events.pause()
  t.deepEqual(
    (['success', 'start', 'fail', 'log'] as const).map((kind) => ping(kind, 1).type),
    ['ign', 'ign', 'ign', 'ign'],
  )
  t.like(check, { status: 'paused', nPings: 5, lastPing: T0 })
})
