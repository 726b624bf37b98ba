import test from 'ava'
import type { CheckMachine, StatusChange } from '#shared/monitoring/checks/state-machine.ts'
import { applySignal, BEGIN, sweep } from '#shared/monitoring/checks/state-machine.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { DEMO_CHECKS, type DemoCheck, demoHistory } from '#shared/monitoring/pages/demo-checks.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, microsOfSeconds, toDate, toSeconds } from '#shared/time.ts'
import { duePing } from '../../stack/demo-pings.ts'

const NOW = microsOfSeconds(1_796_000_000)

function machineOf({ period, grace }: DemoCheck): CheckMachine {
  return {
    ...BEGIN,
    kind: 'simple',
    timeoutSeconds: period,
    graceSeconds: grace,
    schedule: '',
    tz: 'UTC',
    manualResume: false,
    methods: '',
    startKw: '',
    successKw: '',
    failureKw: '',
    filterSubject: false,
    filterBody: false,
    filterHttpBody: false,
    filterDefaultFail: false,
  }
}

/** Applies the runs of a check and returns the changes of its status, with seconds before `NOW`. */
function replay(check: DemoCheck): { machine: CheckMachine; flips: [ago: number, change: StatusChange][] } {
  const machine = machineOf(check)
  const flips: [number, StatusChange][] = []
  const sweepAt = (at: Micros) => {
    const decision = sweep(machine, at, nextOccurrence)
    if (decision.kind !== 'down') return
    machine.status = 'down'
    machine.alertAfter = null
    flips.push([toSeconds(NOW - decision.at), decision.flip])
  }
  for (const { ago, seconds, isFailed } of demoHistory(check).runs) {
    const kinds = [
      ['start', ago + seconds],
      [isFailed ? 'fail' : 'success', ago],
    ] as const
    for (const [kind, before] of kinds) {
      const at = NOW - microsOfSeconds(before)
      sweepAt(at)
      const { flip } = applySignal(machine, { kind, at, rid: null }, nextOccurrence)
      if (flip) flips.push([before, flip])
    }
  }
  if (check.role !== 'paused') sweepAt(NOW)
  return { machine, flips }
}

test('the history of each sample check follows from its pings', (t) => {
  for (const check of DEMO_CHECKS) {
    const expected = demoHistory(check).flips.filter(({ to }) => to !== 'paused')
    const { flips } = replay(check)
    t.deepEqual(
      flips.map(([ago, { from, to, reason }]) => ({ ago: Math.round(ago), from, to, reason })),
      expected.map((flip) => ({ ...flip, ago: Math.round(flip.ago) })),
      check.name,
    )
  }
})

test('while the demo runs for hours, only the flaky check goes down and recovers, and some checks are late', (t) => {
  const wentDown = new Set<string>()
  const wasLate = new Set<string>()
  for (const check of DEMO_CHECKS.filter(({ role }) => role !== 'paused' && role !== 'new')) {
    const { machine } = replay(check)
    const isDownFromTheStart = machine.status === 'down'
    let startedAt: number | undefined
    for (let seconds = 0; seconds < 4 * 3600; seconds += 5) {
      const at = NOW + microsOfSeconds(seconds)
      const status = shownStatus(machine, at, nextOccurrence)
      if (status === 'down' && !isDownFromTheStart) wentDown.add(check.role)
      if (status === 'grace') wasLate.add(check.role)
      const listed = {
        status,
        started: machine.lastStart !== null,
        last_ping: machine.lastPing === null ? null : toDate(machine.lastPing).toISOString(),
      }
      const kind = duePing(check, listed, startedAt, at / 1000)
      if (kind === null) continue
      startedAt = kind === 'start' ? at / 1000 : undefined
      applySignal(machine, { kind, at, rid: null }, nextOccurrence)
    }
    if (isDownFromTheStart) t.is(machine.status, 'down', check.name)
  }
  t.deepEqual([...wentDown], ['flaky'])
  t.deepEqual([...wasLate], ['late'])
})
