import test from 'ava'
import { gatherBatches } from '../../../workers/pack-composer/gather-batches.ts'

test('the first item starts at once, and those that come meanwhile form the next batch, up to the largest', async (t) => {
  const batches: number[][] = []
  const gate = Promise.withResolvers<void>()
  const double = gatherBatches(async (items: readonly number[]) => {
    batches.push([...items])
    await gate.promise
    return items.map((item) => item * 2)
  }, 2)
  const results = [1, 2, 3, 4].map(double)
  t.deepEqual(batches, [[1]])
  gate.resolve()
  t.deepEqual(await Promise.all(results), [2, 4, 6, 8])
  t.deepEqual(batches, [[1], [2, 3], [4]])
})

test('a batch that fails fails its own items, and the next one runs', async (t) => {
  const run = gatherBatches(async (items: readonly string[]) => {
    if (items.includes('bad')) throw new Error('no')
    return items
  }, 10)
  const outcomes = await Promise.allSettled(['bad', 'a', 'b'].map(run))
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
})

test('a batch that gives too few results says so instead of waiting for ever', async (t) => {
  const run = gatherBatches(async () => [], 10)
  await t.throwsAsync(run(1), { message: 'a batch gave too few results' })
})
