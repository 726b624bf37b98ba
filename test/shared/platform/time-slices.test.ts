import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { mapYielding } from '#shared/platform/process/time-slices.ts'

/** Uses the processor for about a millisecond. */
function work(): void {
  const until = performance.now() + 1
  while (performance.now() < until);
}

test('many concurrent requests share the slices of the event loop', async (t) => {
  const JOBS = 30
  const ITEMS = 20
  let inIteration = 0
  let maxInIteration = 0
  let isDone = false
  const jobs = Promise.all(
    Array.from({ length: JOBS }, () =>
      mapYielding(Array(ITEMS).fill(0), () => {
        work()
        inIteration += 1
        maxInIteration = Math.max(maxInIteration, inIteration)
      }),
    ),
  ).then(() => (isDone = true))
  while (!isDone) {
    inIteration = 0
    await setImmediate()
  }
  await jobs
  // A separate slice of 10 ms per job would be 300 items, and the first item of each job 30.
  t.true(maxInIteration <= 20, `${maxInIteration} items in one iteration of the event loop`)
})
