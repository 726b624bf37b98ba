import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { createGathering } from '../../../workers/ping-evaluator/applier.ts'

const AN_HOUR = 3_600_000

async function isDone(turn: Promise<void>): Promise<boolean> {
  return await Promise.race([turn.then(() => true), setImmediate(false)])
}

test('a single message is handled at once', async (t) => {
  const gathering = createGathering(0)
  for (let turn = 0; turn < 3; turn++) t.true(await isDone(gathering.turn()))
})

test('closely following pings are gathered until an urgent request', async (t) => {
  const gathering = createGathering(AN_HOUR)
  t.true(await isDone(gathering.turn()), 'the first has nothing to wait for')
  const second = gathering.turn()
  t.false(await isDone(second))
  gathering.hurry()
  await second
  const third = gathering.turn()
  t.false(await isDone(third), 'the hurry was for the turn before')
  gathering.hurry()
  await third
})

test('a request to hurry made before the wait is kept', async (t) => {
  const gathering = createGathering(AN_HOUR)
  await gathering.turn()
  gathering.hurry()
  t.true(await isDone(gathering.turn()))
})
