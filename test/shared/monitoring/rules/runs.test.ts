import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { applySignal, type PingType } from '#shared/monitoring/checks/state-machine.ts'
import { goingDownAtWithoutRules } from '#shared/monitoring/checks/status.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { effort } from '../../../support/effort.ts'
import { aCheck } from '../checks/factory.ts'
import { A, at, B, C, ruleScenario } from './run-scenario.ts'

const each = { watch: 'each' } as const

test('each of two overlapping runs has its own deadline and duration', (t) => {
  const scenario = ruleScenario({}, { run: { ...each, max: 3600 } })
  scenario.ping('start', at('10:00'), A)
  scenario.ping('start', at('10:30'), B)
  scenario.ping('success', at('10:40'), B)
  t.is(scenario.check.alertAfter, at('11:00'))
  scenario.sweep(at('11:00:01'))
  t.like(scenario.flips.at(-1), { to: 'down', reason: 'timeout', at: at('11:00') })
  scenario.ping('success', at('11:20'), A)
  t.like(scenario.flips.at(-1), { to: 'up', at: at('11:20') })
  t.is(scenario.check.lastDuration, 4_800_000_000)
  t.like(scenario.runs()[0], { outcome: 'success', duration: 4_800_000_000, flags: ['OVERRUN'] })
})

test('a success does not bring the check up while another run is overdue', (t) => {
  const scenario = ruleScenario({}, { run: { ...each, max: 3600 } })
  scenario.ping('start', at('10:00'), A)
  scenario.ping('start', at('10:50'), B)
  scenario.sweep(at('11:10'))
  scenario.ping('success', at('11:15'), B)
  t.is(scenario.check.status, 'down')
  scenario.ping('success', at('11:16'), A)
  t.is(scenario.check.status, 'up')
})

test('a fail ends the run with its id and brings the check down', (t) => {
  const scenario = ruleScenario({}, { run: { ...each, max: 3600 } })
  scenario.ping('start', at('10:00'), A)
  scenario.ping('start', at('10:10'), B)
  scenario.ping('fail', at('10:20'), A)
  t.like(scenario.flips.at(-1), { to: 'down', reason: 'fail' })
  t.like(scenario.runs()[0], { outcome: 'fail', duration: 1_200_000_000 })
  t.is(scenario.check.lastStart, at('10:10'))
})

test('without "max", the deadline of a run is the grace time', (t) => {
  const scenario = ruleScenario({ graceSeconds: 600 }, { run: each })
  scenario.ping('start', at('10:00'), A)
  t.is(scenario.check.alertAfter, at('10:10'))
})

test('a start or log of an open run extends its deadline up to "max"', (t) => {
  const scenario = ruleScenario({}, { run: { ...each, max: 3600, alive: 600 } })
  scenario.ping('start', at('10:00'), A)
  scenario.ping('log', at('10:05'), A)
  t.is(scenario.check.alertAfter, at('10:15'))
  scenario.ping('start', at('10:14'), A)
  t.is(scenario.check.alertAfter, at('10:24'))
  t.is(scenario.runs().length, 1)
  scenario.ping('log', at('10:20'), B)
  t.is(scenario.check.alertAfter, at('10:24'))
  for (const minute of [23, 32, 41, 50, 59]) scenario.ping('log', at(`10:${minute}`), A)
  t.is(scenario.check.alertAfter, at('11:00'))
})

test('a start abandons the run with its id, or the oldest above "open"', (t) => {
  const scenario = ruleScenario({}, { run: { ...each, max: 3600, open: 2 } })
  scenario.ping('start', at('10:00'))
  scenario.ping('start', at('10:01'))
  t.deepEqual(
    scenario.runs().map(({ outcome }) => outcome),
    ['abandoned', 'open'],
  )
  scenario.ping('start', at('10:02'), A)
  t.is(scenario.facts.runs?.tally.abandonedAt, null)
  scenario.ping('start', at('10:03'), B)
  t.deepEqual(
    scenario.runs().map(({ outcome }) => outcome),
    ['abandoned', 'abandoned', 'open', 'open'],
  )
  t.is(scenario.facts.runs?.tally.abandonedAt, at('10:03'))
})

test('"not started by 03:05" and "longer than 6 h" are two deadlines', (t) => {
  const nightly = { kind: 'cron', schedule: '0 3 * * *', graceSeconds: 3600, lastPing: at('00:30') } as const
  const silent = ruleScenario(nightly, { run: { ...each, max: 21_600, start_grace: 300 } })
  t.is(silent.check.alertAfter, at('03:05'))
  const long = ruleScenario(nightly, { run: { ...each, max: 21_600, start_grace: 300 } })
  long.ping('start', at('03:01'), A)
  t.is(long.check.alertAfter, at('09:01'))
})

test('a run within "early" counts for the next occurrence', (t) => {
  const nightly = { kind: 'cron', schedule: '0 3 * * *', graceSeconds: 3600, lastPing: at('00:30') } as const
  const early = ruleScenario(nightly, { run: { ...each, max: 21_600, early: 600 } })
  early.ping('start', at('02:55'), A)
  t.is(early.check.alertAfter, at('08:55'))
  const other = ruleScenario(nightly, { run: { ...each, max: 21_600, early: 600 } })
  other.ping('start', at('02:45'), A)
  t.is(other.check.alertAfter, at('04:00'))
})

test('flags runs that are short, frequent, unscheduled, overlapping, slow or overrun', (t) => {
  const nightly = { kind: 'cron', schedule: '0 3 * * *', graceSeconds: 600, lastPing: at('00:30') } as const
  const scenario = ruleScenario(nightly, {
    run: { ...each, max: 3600, min: 60, spacing: 300, early: 60, overlap: 'flag', slow: 2 },
  })
  scenario.ping('start', at('02:00'), A)
  scenario.ping('start', at('02:04'), B)
  scenario.ping('success', at('02:04:30'), B)
  t.deepEqual(scenario.runs()[0]?.flags, ['OUTSIDE_SCHEDULE'])
  t.deepEqual(scenario.runs()[1]?.flags, ['TOO_OFTEN', 'OUTSIDE_SCHEDULE', 'OVERLAP', 'TOO_SHORT'])
  const book = scenario.facts.runs
  if (book) book.p95 = 60_000_000
  scenario.ping('success', at('03:01'), A)
  t.deepEqual(scenario.runs()[0]?.flags, ['OUTSIDE_SCHEDULE', 'SLOW', 'OVERRUN'])
  scenario.ping('success', at('03:05'))
  t.deepEqual(scenario.runs()[2]?.flags, [])
  scenario.ping('success', at('03:06'))
  t.deepEqual(scenario.runs()[3]?.flags, ['TOO_OFTEN'])
})

test('a flag in "fail_on" makes the ping a failure', (t) => {
  const shown = ruleScenario({}, { run: { ...each, max: 3600, overlap: 'flag' } })
  shown.ping('start', at('10:00'), A)
  t.is(shown.ping('start', at('10:01'), B).type, 'start')
  t.deepEqual(shown.flips, [])
  const failing = ruleScenario(
    {},
    { run: { ...each, max: 3600, overlap: 'flag', fail_on: ['OVERLAP', 'TOO_SHORT'], min: 60 } },
  )
  failing.ping('start', at('10:00'), A)
  const outcome = failing.ping('start', at('10:01'), B)
  t.like(outcome, { type: 'fail', flip: { to: 'down', reason: 'fail' } })
  failing.ping('success', at('10:02:30'), B)
  t.is(failing.check.status, 'up')
  failing.ping('success', at('10:05'), A)
  failing.ping('start', at('10:10'), C)
  t.like(failing.ping('success', at('10:10:10'), C), { type: 'fail', flip: { to: 'down', reason: 'fail' } })
})

test('counts missed occurrences at the next finish', (t) => {
  const hourly = { kind: 'cron', schedule: '0 * * * *', graceSeconds: 600, lastPing: at('09:05') } as const
  const scenario = ruleScenario(hourly, { run: each })
  scenario.ping('success', at('10:05'))
  t.is(scenario.facts.runs?.tally.missed, 0)
  scenario.ping('success', at('13:05'))
  t.is(scenario.facts.runs?.tally.missed, 2)
  t.is(scenario.facts.runs?.tally.streak, 2)
})

test('a start that arrives after its finish only measures the run', (t) => {
  const scenario = ruleScenario({}, { run: { ...each, max: 3600 } })
  scenario.ping('success', at('10:05'), A)
  scenario.ping('start', at('10:00'), A)
  t.deepEqual(
    scenario.runs().map(({ outcome, duration }) => [outcome, duration]),
    [['success', 300_000_000]],
  )
  t.is(scenario.check.lastStart, null)
})

function random(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const KINDS: readonly PingType[] = ['start', 'success', 'fail', 'log', 'ign']

test('with watch "last", a check behaves as without rules in random scenarios', (t) => {
  for (let seed = 1; seed <= effort(2_000, 20_000); seed++) {
    const pick = random(seed)
    const settings = { timeoutSeconds: 600, graceSeconds: 60 + pick(600), manualResume: pick(4) === 0 }
    const plain = aCheck({ ...settings, status: 'up', lastPing: at('09:00') })
    plain.alertAfter = goingDownAtWithoutRules(plain, nextOccurrence)
    const scenario = ruleScenario(settings, { run: { watch: 'last', overlap: 'flag', min: 60 } })
    let now = at('10:00')
    for (let step = 0; step < 12; step++) {
      now += (1 + pick(900)) * 1_000_000
      const kind = KINDS[pick(KINDS.length)] ?? 'success'
      const rid = [null, A, B][pick(3)] ?? null
      if (plain.alertAfter !== null && plain.alertAfter < now)
        Object.assign(plain, { status: 'down', alertAfter: null })
      applySignal(plain, { kind, at: now, rid }, nextOccurrence)
      scenario.ping(kind, now, rid)
      const { ruleBits: _, ...ruleState } = scenario.check
      if (isDeepStrictEqual(ruleState, plain)) continue
      t.deepEqual(ruleState, plain, `seed ${seed}, step ${step}`)
      return
    }
  }
  t.pass()
})

test('with watch "each", a check agrees with a simple model in random scenarios', (t) => {
  for (let seed = 1; seed <= effort(2_000, 20_000); seed++) {
    const pick = random(seed)
    const scenario = ruleScenario({ timeoutSeconds: 31_536_000 }, { run: { ...each, max: 600, open: 100 } })
    const open = new Map<string | null, number>()
    let [now, status] = [at('10:00'), 'up']
    for (let step = 0; step < 15; step++) {
      now += (1 + pick(500)) * 1_000_000
      const kind = (['start', 'success', 'fail'] as const)[pick(3)] ?? 'start'
      const rid = [null, A, B, C][pick(4)] ?? null
      if (status === 'up' && [...open.values()].some((begun) => begun + 600_000_000 < now)) status = 'down'
      if (kind === 'start' && (rid === null || !open.has(rid))) open.set(rid, now)
      if (kind !== 'start') open.delete(rid)
      const isLate = [...open.values()].some((begun) => begun + 600_000_000 < now)
      if (kind === 'fail') status = 'down'
      if (kind === 'success' && !isLate) status = 'up'
      scenario.ping(kind, now, rid)
      const actual = [scenario.check.status, scenario.facts.runs?.open.length]
      if (actual[0] === status && actual[1] === open.size) continue
      t.deepEqual(actual, [status, open.size], `seed ${seed}, step ${step}`)
      return
    }
  }
  t.pass()
})
