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
  let inTurn = 0
  let maxInTurn = 0
  let isDone = false
  const jobs = Promise.all(
    Array.from({ length: JOBS }, () =>
      mapYielding(Array(ITEMS).fill(0), () => {
        work()
        inTurn += 1
        maxInTurn = Math.max(maxInTurn, inTurn)
      }),
    ),
  ).then(() => (isDone = true))
  while (!isDone) {
    inTurn = 0
    await setImmediate()
  }
  await jobs
  // Each job handles its first item in the first turn. A separate slice of 10 ms per job would be 300 items.
  t.true(maxInTurn <= JOBS + 20, `${maxInTurn} items in one turn of the event loop`)
})
