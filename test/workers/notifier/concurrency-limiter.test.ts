import test from 'ava'
import { type Acquired, ConcurrencyLimiter } from '../../../workers/notifier/concurrency-limiter.ts'

/** Acquires `count` slots; each result is added to the list when it settles. */
function acquireMany(
  limiter: ConcurrencyLimiter,
  target: string,
  projectId: number,
  count: number,
): { results: Acquired[] } {
  const results: Acquired[] = []
  for (let n = 0; n < count; n++) void limiter.acquire(target, projectId).then((result) => results.push(result))
  return { results }
}

/** Waits until the callbacks of all settled promises have run. */
const iteration = () => new Promise((resolve) => setImmediate(resolve))

function release(result: Acquired | undefined): void {
  if (result && 'release' in result) result.release()
}

const started = ({ results }: { results: Acquired[] }) => results.filter((result) => 'release' in result).length
const retryTimes = ({ results }: { results: Acquired[] }) =>
  results.flatMap((result) => ('retryInMs' in result ? [result.retryInMs] : []))

test('gives one project 24 slots of a target and all projects together 32', async (t) => {
  const limiter = new ConcurrencyLimiter()
  const first = acquireMany(limiter, 'slow', 1, 100)
  const second = acquireMany(limiter, 'slow', 2, 100)
  const other = acquireMany(limiter, 'quick', 1, 10)
  await iteration()
  t.deepEqual([started(first), started(second), started(other)], [24, 8, 10])
})

test('gives free slots to waiting projects in rotation', async (t) => {
  const limiter = new ConcurrencyLimiter()
  const many = acquireMany(limiter, 'slow', 1, 900)
  const few = acquireMany(limiter, 'slow', 2, 20)
  await iteration()
  t.deepEqual([started(many), started(few)], [24, 8])
  for (let n = 0; n < 12; n++) release(many.results[n])
  await iteration()
  t.deepEqual([started(many), started(few)], [30, 14], 'six each')
  const late = acquireMany(limiter, 'slow', 3, 1)
  release(many.results[12])
  release(few.results[0])
  release(many.results[13])
  await iteration()
  t.is(started(late), 1)
})

test('spaces the retry times of rejected attempts by the throughput of the target', async (t) => {
  const limiter = new ConcurrencyLimiter()
  acquireMany(limiter, 'slow', 1, 1_024)
  const rejected: { retryInMs: number; from: number; to: number }[] = []
  for (let n = 0; n < 500; n++) {
    const from = performance.now()
    const result = limiter.acquire('slow', 1)
    const to = performance.now()
    void result.then((got) => 'retryInMs' in got && rejected.push({ ...got, from, to }))
  }
  await iteration()
  t.is(rejected.length, 500, '24 have a slot and 1,000 wait')
  t.true(rejected.every(({ retryInMs }) => retryInMs >= 1_000))
  // Each retry time counts from the call, which lies between two readings of the clock.
  const latest = rejected.map(({ retryInMs, to }) => to + retryInMs)
  const earliest = rejected.map(({ retryInMs, from }) => from + retryInMs)
  t.true(
    latest.every((at, n) => at >= (earliest[n - 1] ?? 0)),
    'one after the other',
  )
  t.true((latest.at(-1) ?? 0) - (earliest[0] ?? 0) > 200, 'not all together')
  const few = acquireMany(limiter, 'slow', 2, 8)
  await iteration()
  t.is(started(few), 8, 'another project still finds slots')
})

test('measures throughput by finished attempts while others wait', async (t) => {
  let now = 0
  const limiter = new ConcurrencyLimiter(25_000, () => now)
  const { results } = acquireMany(limiter, 'target', 1, 1_024)
  await iteration()
  let left = 0
  const releaseNext = (count: number) => {
    for (; count > 0; count--) release(results[left++])
  }
  const retryMs = async () => {
    const before = retryTimes({ results }).length
    while (retryTimes({ results }).length === before) {
      void limiter.acquire('target', 1).then((result) => results.push(result))
      await iteration()
    }
    return retryTimes({ results }).at(-1) ?? 0
  }
  // The notifier was busy with the rest of the burst: the first attempts took 150 ms, the next ones 1 ms.
  now = 150
  releaseNext(24)
  await iteration()
  t.true((await retryMs()) < 2_000, '1,000 attempts wait before it, and nearly 1,000 finish per second')
  for (let rest = 500; rest > 0; rest--) {
    now += 1
    releaseNext(1)
    await iteration()
  }
  t.true((await retryMs()) < 2_000)
  // 24 slots with 200 ms each: 120 attempts per second.
  for (let round = 0; round < 20; round++) {
    now += 200
    releaseNext(24)
    await iteration()
  }
  const slow = await retryMs()
  t.true(slow > 6_000 && slow < 11_000, `${slow} ms for a thousand`)
})

test('does not count idle time of a target as low throughput', async (t) => {
  let now = 0
  const limiter = new ConcurrencyLimiter(25_000, () => now)
  // While one attempt has a slot, the measurements of the target remain.
  acquireMany(limiter, 'target', 2, 1)
  for (let round = 0; round < 3; round++) {
    const { results } = acquireMany(limiter, 'target', 1, 1_025)
    await iteration()
    t.true((retryTimes({ results })[0] ?? Number.POSITIVE_INFINITY) < 2_000)
    for (let left = 0; left < 1_024; left++) {
      now += 1
      release(results.filter((result) => 'release' in result)[left])
      await iteration()
    }
    now += 60_000
  }
})

test('limits waiting attempts over all targets, but allows four per project', async (t) => {
  const limiter = new ConcurrencyLimiter()
  const bursts = ['a', 'b', 'c'].map((target, n) => acquireMany(limiter, target, n, 1_024))
  await iteration()
  t.deepEqual(
    bursts.map((each) => retryTimes(each).length),
    [0, 0, 996],
    'the third project has four waiting attempts',
  )
})

test('rejects an attempt after its maximum wait and frees the slot', async (t) => {
  const limiter = new ConcurrencyLimiter(5)
  const { results } = acquireMany(limiter, 'hangs', 1, 26)
  while (retryTimes({ results }).length < 2) await iteration()
  t.is(started({ results }), 24)
  for (const result of results) release(result)
  const next = acquireMany(limiter, 'hangs', 1, 24)
  await iteration()
  t.is(started(next), 24)
})
