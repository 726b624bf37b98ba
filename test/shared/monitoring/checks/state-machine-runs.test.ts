import test from 'ava'
import type { StoredStatus } from '#shared/monitoring/checks/check.ts'
import type { PingType } from '#shared/monitoring/checks/state-machine.ts'
import { A, B, play, seconds } from './play.ts'

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
