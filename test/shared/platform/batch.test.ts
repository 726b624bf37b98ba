import test from 'ava'
import { batched } from '#shared/platform/process/batch.ts'

test('the first item starts at once, and those that come meanwhile form the next batch, up to the largest', async (t) => {
  const batches: number[][] = []
  const gate = Promise.withResolvers<void>()
  const double = batched(
    async (items: readonly number[]) => {
      batches.push([...items])
      await gate.promise
      return items.map((item) => item * 2)
    },
    { largest: 2 },
  )
  const results = [1, 2, 3, 4].map(double)
  t.deepEqual(batches, [[1]])
  gate.resolve()
  t.deepEqual(await Promise.all(results), [2, 4, 6, 8])
  t.deepEqual(batches, [[1], [2, 3], [4]])
})

test('a batch that fails fails its own items, and the next one runs', async (t) => {
  const run = batched(
    async (items: readonly string[]) => {
      if (items.includes('bad')) throw new Error('no')
      return items
    },
    { largest: 10 },
  )
  const outcomes = await Promise.allSettled(['bad', 'a', 'b'].map(run))
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
})

test('a batch that gives too few results fails instead of waiting for ever', async (t) => {
  const run = batched(async () => [], { largest: 10 })
  await t.throwsAsync(run(1), { message: 'a batch gave too few results' })
})

test('a batch may include items of the same event-loop iteration', async (t) => {
  const batches: number[][] = []
  const run = batched(
    async (items: readonly number[]) => {
      batches.push([...items])
      return items
    },
    { largest: 10, start: queueMicrotask },
  )
  await Promise.all([run(1), run(2)])
  await run(3)
  t.deepEqual(batches, [[1, 2], [3]])
})

test('in a batch that is taken apart only the item at fault fails', async (t) => {
  const run = batched(
    async (items: readonly string[]) => {
      if (items.includes('bad')) throw new Error('no')
      return items
    },
    { largest: 10, start: queueMicrotask, isolate: true },
  )
  const outcomes = await Promise.allSettled(['a', 'bad', 'b'].map(run))
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})
