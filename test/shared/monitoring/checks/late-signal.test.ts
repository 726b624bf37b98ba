import test from 'ava'
import { type RecordedSignal, settleRun } from '#shared/monitoring/checks/late-signal.ts'
import { applySignal, pause, type Signal, sweep } from '#shared/monitoring/checks/state-machine.ts'
import { aCheck } from './factory.ts'

const T0 = 1_704_888_000_000_000
const seconds = (count: number) => count * 1_000_000
const never = () => null
const A = '11111111-1111-1111-1111-111111111111'

/** Applies signals in order, late ones with the recorded pings, as the evaluator does. */
function outcomeOf(signals: readonly Signal[]) {
  const check = aCheck({ timeoutSeconds: 600, graceSeconds: 300 })
  const recorded: RecordedSignal[] = []
  for (const signal of signals) {
    const { type, late } = applySignal(check, signal, never)
    recorded.push({ type, at: signal.at, rid: signal.rid })
    if (late) settleRun(check, recorded, never)
  }
  return check
}

/** Repeatable pseudo-random integers below a limit (a linear congruential generator). */
function dice(seed: number) {
  let state = seed
  return (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * limit)
  }
}

function shuffled<T>(items: readonly T[], roll: (limit: number) => number): T[] {
  return items
    .map((item) => ({ item, key: roll(1_000_000) }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item)
}

test('any order of the same signals leads to the state of the ordered run', (t) => {
  const roll = dice(7)
  const kinds = ['success', 'start', 'fail', 'log', 'start', 'success'] as const
  const rids = [null, A, '22222222-2222-2222-2222-222222222222'] as const
  for (let round = 0; round < 1000; round++) {
    const ordered = Array.from({ length: 2 + roll(9) }, (_, index): Signal => {
      return { kind: kinds[roll(kinds.length)] ?? 'log', at: T0 + seconds(index), rid: rids[roll(3)] ?? null }
    })
    const order = shuffled(ordered, roll)
    t.deepEqual(outcomeOf(order), outcomeOf(ordered), JSON.stringify(order))
  }
})

test('an older ping changes neither the last ping nor the status', (t) => {
  const check = aCheck()
  applySignal(check, { kind: 'fail', at: T0 + 10, rid: null }, never)
  const { flip, late } = applySignal(check, { kind: 'success', at: T0, rid: null }, never)
  t.is(flip, null)
  t.true(late)
  t.like(check, { status: 'down', lastPing: T0 + 10, nPings: 2 })
})

test('a start that arrives after its success opens no run', (t) => {
  const check = aCheck()
  applySignal(check, { kind: 'success', at: T0 + 10, rid: A }, never)
  t.like(applySignal(check, { kind: 'start', at: T0, rid: A }, never), { type: 'start', late: true })
  t.is(check.lastStart, null)
})

test('a punctual ping that is applied after the sweep corrects the flip', (t) => {
  const check = aCheck({ timeoutSeconds: 600, graceSeconds: 300 })
  applySignal(check, { kind: 'success', at: T0, rid: null }, never)
  const decision = sweep(check, T0 + seconds(901), never)
  t.is(decision.kind, 'down')
  check.status = 'down'
  check.alertAfter = null
  const { flip, late } = applySignal(check, { kind: 'success', at: T0 + seconds(899), rid: null }, never)
  t.like(flip, { from: 'down', to: 'up' })
  t.false(late)
  t.like(check, { status: 'up', alertAfter: T0 + seconds(1799) })
})

test('a late signal does not end a pause', (t) => {
  const check = aCheck()
  applySignal(check, { kind: 'success', at: T0 + 10, rid: null }, never)
  pause(check)
  for (const kind of ['start', 'success', 'fail'] as const) applySignal(check, { kind, at: T0, rid: null }, never)
  settleRun(check, [{ type: 'start', at: T0, rid: null }], never)
  t.like(check, { status: 'paused', lastPing: T0 + 10, lastStart: null, alertAfter: null })
})

test('a run that began before the stored pings can still be open', (t) => {
  const check = aCheck({ status: 'up', lastPing: T0 + 50, lastStart: T0, lastStartRid: A, graceSeconds: 300 })
  settleRun(
    check,
    [
      { type: 'success', at: T0 + 50, rid: 'other' },
      { type: 'log', at: T0 + 20, rid: null },
    ],
    never,
  )
  t.like(check, { lastStart: T0, lastStartRid: A, lastDuration: null })
})
