import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { mapYielding } from '#shared/platform/process/time-slices.ts'

/** Uses the processor for about a millisecond. */
function work(): void {
  const until = performance.now() + 1
  while (performance.now() < until);
}

test('work of many requests shares the turns of the event loop', async (t) => {
  const JOBS = 30
  const ITEMS = 20
  let inTurn = 0
  let most = 0
  let isDone = false
  const jobs = Promise.all(
    Array.from({ length: JOBS }, () =>
      mapYielding(Array(ITEMS).fill(0), () => {
        work()
        inTurn += 1
        most = Math.max(most, inTurn)
      }),
    ),
  ).then(() => (isDone = true))
  while (!isDone) {
    inTurn = 0
    await setImmediate()
  }
  await jobs
  // All of them begin in the first turn, with an item each. Ten milliseconds of each would be 300 items.
  t.true(most <= JOBS + 20, `${most} items in one turn`)
})
