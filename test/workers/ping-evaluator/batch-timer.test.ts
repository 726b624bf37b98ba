import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { createBatchTimer } from '../../../workers/ping-evaluator/batch-timer.ts'

const AN_HOUR = 3_600_000

async function isOver(wait: Promise<void>): Promise<boolean> {
  return await Promise.race([wait.then(() => true), setImmediate(false)])
}

test('no batch waits with an interval of 0', async (t) => {
  const timer = createBatchTimer(0)
  for (let batch = 0; batch < 3; batch++) t.true(await isOver(timer.waitForNextBatch()))
})

test('each batch after the first waits for the interval or a flush', async (t) => {
  const timer = createBatchTimer(AN_HOUR)
  t.true(await isOver(timer.waitForNextBatch()), 'there is no previous batch')
  const second = timer.waitForNextBatch()
  t.false(await isOver(second))
  timer.flush()
  await second
  const third = timer.waitForNextBatch()
  t.false(await isOver(third), 'a flush ends only one wait')
  timer.flush()
  await third
})

test('a flush before the wait ends the next wait', async (t) => {
  const timer = createBatchTimer(AN_HOUR)
  await timer.waitForNextBatch()
  timer.flush()
  t.true(await isOver(timer.waitForNextBatch()))
})
