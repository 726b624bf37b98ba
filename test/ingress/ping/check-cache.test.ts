import test from 'ava'
import { createCheckCache, type KnownCheck } from '../../../ingress/ping/check-cache.ts'

const known = (checkId: number): KnownCheck => ({ checkId, uuid: `check ${checkId}`, projectId: 1 })

/** A cache whose look-ups are answered when, and in the order in which, the test says. */
function openSlowCache() {
  const lookUps: { uuids: string[]; answer(value: KnownCheck): void }[] = []
  const cache = createCheckCache(
    {
      byUuid: (uuids) =>
        new Promise((resolve) => {
          lookUps.push({ uuids, answer: (value) => resolve(new Map(uuids.map((uuid) => [uuid, value]))) })
        }),
      bySlug: async () => new Map(),
    },
    60_000,
  )
  return { lookUps, byUuid: cache.byUuid, forget: cache.forget }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('whoever asks for what is being looked up waits for that, so that answers keep their order', async (t) => {
  const { lookUps, byUuid } = openSlowCache()
  const order: string[] = []
  const first = byUuid.find('a').then(() => order.push('first'))
  await turn()
  const second = byUuid.find('a').then(() => order.push('second'))
  const other = byUuid.find('b').then(() => order.push('other'))
  await turn()
  t.deepEqual(
    lookUps.map(({ uuids }) => uuids),
    [['a'], ['b']],
  )
  lookUps[1]?.answer(known(2))
  lookUps[0]?.answer(known(1))
  await Promise.all([first, second, other])
  t.deepEqual(
    order.filter((who) => who !== 'other'),
    ['first', 'second'],
  )
  t.deepEqual(byUuid.peek('a'), known(1))
})

test('what was asked before a change does not answer who asks after it', async (t) => {
  const { lookUps, byUuid, forget } = openSlowCache()
  const before = byUuid.find('a')
  await turn()
  forget({ kind: 'check', uuid: 'a', projectId: 1 })
  const after = byUuid.find('a')
  await turn()
  t.is(lookUps.length, 2)
  lookUps[1]?.answer(known(2))
  t.deepEqual(await after, known(2))
  lookUps[0]?.answer(known(1))
  t.deepEqual(await before, known(1))
  t.deepEqual(byUuid.peek('a'), known(2), 'nor is it remembered')
})

test('a look-up that failed is begun anew', async (t) => {
  const failing = { count: 0 }
  const { byUuid } = createCheckCache(
    {
      byUuid: async () => {
        failing.count += 1
        throw new Error('the database is away')
      },
      bySlug: async () => new Map(),
    },
    60_000,
  )
  await t.throwsAsync(byUuid.find('a'), { message: /away/ })
  await t.throwsAsync(byUuid.find('a'), { message: /away/ })
  t.is(failing.count, 2)
})
