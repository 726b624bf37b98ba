import test from 'ava'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import {
  maskOfShards,
  openGeneration,
  type PingGeneration,
  queueNumber,
  queuesOf,
  queuesOfCheck,
  queuesToTake,
  settledShards,
} from '#shared/contracts/ping-generations.ts'

const generation = (number: number, shards: number, more: Partial<PingGeneration> = {}): PingGeneration => ({
  generation: number,
  shards,
  opensAt: number * 1_000,
  isDrained: false,
  ...more,
})

const DRAINED = { isDrained: true }

test('the first generation has the names that queues always had, and no two queues have one name', (t) => {
  t.deepEqual(queuesOf(generation(0, 3)).map(pingQueue), ['pings.0', 'pings.1', 'pings.2'])
  t.deepEqual(queuesOf(generation(2, 2)).map(pingQueue), ['pings.2.0', 'pings.2.1'])
  const names = [0, 1, 2].flatMap((number) => queuesOf(generation(number, 64)).map(pingQueue))
  t.is(new Set(names).size, names.length)
})

test('pings go to a generation once it is open, and to the first one before any clock is known', (t) => {
  const live = [generation(0, 1), generation(1, 4)]
  t.is(openGeneration(live, 999)?.generation, 0)
  t.is(openGeneration(live, 1_000)?.generation, 1)
  t.is(openGeneration([generation(3, 2)], 0)?.generation, 3)
  t.is(openGeneration([], 0), null)
})

test('the next generation is consumed only after the former is read completely', (t) => {
  const taken = (...live: PingGeneration[]) => queuesToTake(live).map(pingQueue)
  t.deepEqual(taken(generation(0, 1), generation(1, 2)), ['pings.0'])
  t.deepEqual(taken(generation(0, 1, DRAINED), generation(1, 2)), ['pings.0', 'pings.1.0', 'pings.1.1'])
  t.deepEqual(taken(generation(0, 1, DRAINED), generation(1, 1), generation(2, 1)), ['pings.0', 'pings.1.0'])
  t.deepEqual(taken(generation(5, 1)), ['pings.5.0'])
})

test('a shard is settled exactly when every queue that may contain pings of its checks has answered', (t) => {
  for (let former = 1; former <= 8; former++) {
    for (let newest = 1; newest <= 8; newest++) {
      const live = [generation(0, former, DRAINED), generation(1, newest)]
      const all = live.flatMap(queuesOf)
      t.is(settledShards(live, new Set(all)).length, newest)
      for (const silent of all) {
        const answered = new Set(all.filter((queue) => queue !== silent))
        const settled = settledShards(live, answered)
        for (let check = 0; check < 60; check++) {
          const isWaitedFor = !settled.includes(check % newest)
          if (queuesOfCheck(live, check).includes(silent)) t.true(isWaitedFor, `${former} -> ${newest}, ${check}`)
        }
        const held = new Set(
          Array.from({ length: 60 }, (_, check) => check)
            .filter((check) => queuesOfCheck(live, check).includes(silent))
            .map((check) => check % newest),
        )
        t.is(settled.length, newest - held.size, 'no other shard waits')
      }
    }
  }
  t.deepEqual(settledShards([], new Set()), [])
})

test('a proof of all shards, or of some, is the same under a multiple of their number', (t) => {
  t.is(maskOfShards([true]), (1n << 64n) - 1n)
  t.is(maskOfShards([true, true, true]), (1n << 64n) - 1n)
  t.is(maskOfShards([true, false]) & 0b1111n, 0b0101n)
  t.is(maskOfShards([false, false]), 0n)
  t.is(maskOfShards([]), 0n)
  t.is(queueNumber({ generation: 1 }, 3), 67)
})
