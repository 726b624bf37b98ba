import test from 'ava'
import {
  type ConcurrencyLimiter,
  createConcurrencyLimiter,
  type Entry,
} from '../../../workers/notifier/concurrency-limiter.ts'

/** Enters as often as asked; what came of each is put into the list when it comes. */
function crowd(places: ConcurrencyLimiter, target: string, projectId: number, count: number): { entries: Entry[] } {
  const entries: Entry[] = []
  for (let n = 0; n < count; n++) void places.enter(target, projectId).then((entry) => entries.push(entry))
  return { entries }
}

/** Until every promise that is settled by now has been heard of. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

function leave(entry: Entry | undefined): void {
  if (entry && 'leave' in entry) entry.leave()
}

const begun = ({ entries }: { entries: Entry[] }) => entries.filter((entry) => 'leave' in entry).length
const sentAway = ({ entries }: { entries: Entry[] }) =>
  entries.flatMap((entry) => ('comeBackInMs' in entry ? [entry.comeBackInMs] : []))

test('a project has 24 places of a target, all projects 32, and another target is not concerned', async (t) => {
  const places = createConcurrencyLimiter()
  const first = crowd(places, 'slow', 1, 100)
  const second = crowd(places, 'slow', 2, 100)
  const other = crowd(places, 'quick', 1, 10)
  await turn()
  t.deepEqual([begun(first), begun(second), begun(other)], [24, 8, 10])
})

test('who waits is served in turn among the projects, however many wait of one', async (t) => {
  const places = createConcurrencyLimiter()
  const many = crowd(places, 'slow', 1, 900)
  const few = crowd(places, 'slow', 2, 20)
  await turn()
  t.deepEqual([begun(many), begun(few)], [24, 8])
  for (let n = 0; n < 12; n++) leave(many.entries[n])
  await turn()
  t.deepEqual([begun(many), begun(few)], [30, 14], 'six each')
  const late = crowd(places, 'slow', 3, 1)
  leave(many.entries[12])
  leave(few.entries[0])
  leave(many.entries[13])
  await turn()
  t.is(begun(late), 1)
})

test('what would wait too long comes back one after the other, at the pace of the target', async (t) => {
  const places = createConcurrencyLimiter()
  crowd(places, 'slow', 1, 1_024)
  const away: { comeBackInMs: number; from: number; to: number }[] = []
  for (let n = 0; n < 500; n++) {
    const from = performance.now()
    const entry = places.enter('slow', 1)
    const to = performance.now()
    void entry.then((got) => 'comeBackInMs' in got && away.push({ ...got, from, to }))
  }
  await turn()
  t.is(away.length, 500, '24 are under way and 1,000 wait')
  t.true(away.every(({ comeBackInMs }) => comeBackInMs >= 1_000))
  // Each is told how long, counted from its own call, which lies between two readings of the clock.
  const latest = away.map(({ comeBackInMs, to }) => to + comeBackInMs)
  const earliest = away.map(({ comeBackInMs, from }) => from + comeBackInMs)
  t.true(
    latest.every((at, n) => at >= (earliest[n - 1] ?? 0)),
    'one after the other',
  )
  t.true((latest.at(-1) ?? 0) - (earliest[0] ?? 0) > 200, 'not all together')
  const few = crowd(places, 'slow', 2, 8)
  await turn()
  t.is(begun(few), 8, 'the crowd of one takes nothing from another')
})

test('the pace is how often attempts end while others wait, not how long the first of a crowd take', async (t) => {
  let now = 0
  const places = createConcurrencyLimiter(25_000, () => now)
  const { entries } = crowd(places, 'target', 1, 1_024)
  await turn()
  let left = 0
  const leaveNext = (count: number) => {
    for (; count > 0; count--) leave(entries[left++])
  }
  const awayMs = async () => {
    const before = sentAway({ entries }).length
    while (sentAway({ entries }).length === before) {
      void places.enter('target', 1).then((entry) => entries.push(entry))
      await turn()
    }
    return sentAway({ entries }).at(-1) ?? 0
  }
  // The notifier was busy with the rest of the crowd: the first took 150 ms, and those after them one.
  now = 150
  leaveNext(24)
  await turn()
  t.true((await awayMs()) < 2_000, 'a thousand before it, and most of a thousand a second are to be expected')
  for (let rest = 500; rest > 0; rest--) {
    now += 1
    leaveNext(1)
    await turn()
  }
  t.true((await awayMs()) < 2_000)
  // From now on each takes 200 ms: 120 a second.
  for (let round = 0; round < 20; round++) {
    now += 200
    leaveNext(24)
    await turn()
  }
  const slow = await awayMs()
  t.true(slow > 6_000 && slow < 11_000, `${slow} ms for a thousand`)
})

test('a target that is not asked for a while is not slower for it', async (t) => {
  let now = 0
  const places = createConcurrencyLimiter(25_000, () => now)
  // As long as one is under way what is known of the target is kept.
  crowd(places, 'target', 2, 1)
  for (let round = 0; round < 3; round++) {
    const { entries } = crowd(places, 'target', 1, 1_025)
    await turn()
    t.true((sentAway({ entries })[0] ?? Number.POSITIVE_INFINITY) < 2_000)
    for (let left = 0; left < 1_024; left++) {
      now += 1
      leave(entries.filter((entry) => 'leave' in entry)[left])
      await turn()
    }
    now += 60_000
  }
})

test('those that wait are bounded over all targets, and a project with a few may still wait', async (t) => {
  const places = createConcurrencyLimiter()
  const crowds = ['a', 'b', 'c'].map((target, n) => crowd(places, target, n, 1_024))
  await turn()
  t.deepEqual(
    crowds.map((each) => sentAway(each).length),
    [0, 0, 996],
    'four of the third wait',
  )
})

test('who has waited too long is sent away, and the place goes to the next', async (t) => {
  const places = createConcurrencyLimiter(5)
  const { entries } = crowd(places, 'hangs', 1, 26)
  while (sentAway({ entries }).length < 2) await turn()
  t.is(begun({ entries }), 24)
  for (const entry of entries) leave(entry)
  const next = crowd(places, 'hangs', 1, 24)
  await turn()
  t.is(begun(next), 24)
})
