import test from 'ava'
import { gatherTurns } from '../../../workers/pack-composer/gather-turns.ts'

test('the first item starts at once, and those that come meanwhile form the next turn, up to the largest', async (t) => {
  const turns: number[][] = []
  const gate = Promise.withResolvers<void>()
  const double = gatherTurns(async (items: readonly number[]) => {
    turns.push([...items])
    await gate.promise
    return items.map((item) => item * 2)
  }, 2)
  const results = [1, 2, 3, 4].map(double)
  t.deepEqual(turns, [[1]])
  gate.resolve()
  t.deepEqual(await Promise.all(results), [2, 4, 6, 8])
  t.deepEqual(turns, [[1], [2, 3], [4]])
})

test('a turn that fails fails its own items, and the next one runs', async (t) => {
  const run = gatherTurns(async (items: readonly string[]) => {
    if (items.includes('bad')) throw new Error('no')
    return items
  }, 10)
  const outcomes = await Promise.allSettled(['bad', 'a', 'b'].map(run))
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
})

test('a turn that gives too few results says so instead of waiting for ever', async (t) => {
  const run = gatherTurns(async () => [], 10)
  await t.throwsAsync(run(1), { message: 'a turn gave too few results' })
})
