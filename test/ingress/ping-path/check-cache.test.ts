import test from 'ava'
import { createCheckCache, type KnownCheck } from '../../../ingress/ping-path/check-cache.ts'
import { eventually } from '../../support/eventually.ts'

const known = (checkId: number): KnownCheck => ({ checkId, uuid: `check ${checkId}`, projectId: 1 })

/** Opens a cache whose look-ups the test answers, in an order that it chooses. */
function openSlowCache(freshMs = 60_000) {
  const lookupCount: { uuids: string[]; answer(value: KnownCheck): void }[] = []
  const cache = createCheckCache(
    {
      byUuid: (uuids) =>
        new Promise((resolve) => {
          lookupCount.push({ uuids, answer: (value) => resolve(new Map(uuids.map((uuid) => [uuid, value]))) })
        }),
      bySlug: async () => new Map(),
    },
    freshMs,
  )
  return { lookupCount, byUuid: cache.byUuid, forget: cache.forget }
}

/** Refresh-ahead starts after half of this time, which is longer than any delay of a busy machine. */
const REFRESH_AFTER_MS = 24_000

const iteration = () => new Promise((resolve) => setImmediate(resolve))

test('a request for a pending look-up waits for it, so that responses keep their order', async (t) => {
  const { lookupCount, byUuid } = openSlowCache()
  const order: string[] = []
  const first = byUuid.find('a').then(() => order.push('first'))
  await iteration()
  const second = byUuid.find('a').then(() => order.push('second'))
  const other = byUuid.find('b').then(() => order.push('other'))
  await iteration()
  t.deepEqual(
    lookupCount.map(({ uuids }) => uuids),
    [['a'], ['b']],
  )
  lookupCount[1]?.answer(known(2))
  lookupCount[0]?.answer(known(1))
  await Promise.all([first, second, other])
  t.deepEqual(
    order.filter((who) => who !== 'other'),
    ['first', 'second'],
  )
  t.deepEqual(byUuid.peek('a'), known(1))
})

test('a look-up begun before a change does not answer a request made after it', async (t) => {
  const { lookupCount, byUuid, forget } = openSlowCache()
  const before = byUuid.find('a')
  await iteration()
  forget({ kind: 'check', uuid: 'a', projectId: 1 })
  const after = byUuid.find('a')
  await iteration()
  t.is(lookupCount.length, 2)
  lookupCount[1]?.answer(known(2))
  t.deepEqual(await after, known(2))
  lookupCount[0]?.answer(known(1))
  t.deepEqual(await before, known(1))
  t.deepEqual(byUuid.peek('a'), known(2), 'nor is it remembered')
})

test('a failed look-up is started again', async (t) => {
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

test('used entries are refreshed in one query before they expire', async (t) => {
  const { lookupCount, byUuid } = openSlowCache(REFRESH_AFTER_MS)
  const requested = ['a', 'b', 'unused'].map((uuid) => byUuid.find(uuid))
  await iteration()
  lookupCount[0]?.answer(known(1))
  await Promise.all(requested)
  const peekBoth = () => t.deepEqual([byUuid.peek('a'), byUuid.peek('b')], [known(1), known(1)])
  await eventually('a second look-up', () => {
    peekBoth()
    return lookupCount.length > 1
  })
  t.deepEqual(lookupCount[1]?.uuids, ['a', 'b'])
  for (let n = 0; n < 3; n++) {
    peekBoth()
    await iteration()
  }
  lookupCount[1]?.answer(known(2))
  await iteration()
  t.deepEqual([byUuid.peek('a'), byUuid.peek('b')], [known(2), known(2)])
  t.is(lookupCount.length, 2, 'once, however often it is used meanwhile')
})

test('only one refresh-ahead query runs at a time', async (t) => {
  const { lookupCount, byUuid } = openSlowCache(REFRESH_AFTER_MS)
  const requested = ['a', 'b'].map((uuid) => byUuid.find(uuid))
  await iteration()
  lookupCount[0]?.answer(known(1))
  await Promise.all(requested)
  await eventually('a second look-up', () => byUuid.peek('a') && lookupCount.length > 1)
  t.deepEqual(byUuid.peek('b'), known(1))
  await eventually('the time of b to be over', () => byUuid.peek('b') === undefined)
  t.is(lookupCount.length, 2)
  lookupCount[1]?.answer(known(2))
  await eventually('a third look-up', () => lookupCount.length > 2)
  t.deepEqual(lookupCount[2]?.uuids, ['b'])
})

test('a refresh-ahead query reads a thousand entries, the next one the others', async (t) => {
  const { lookupCount, byUuid } = openSlowCache(REFRESH_AFTER_MS)
  const uuids = Array.from({ length: 1_001 }, (_, n) => `check ${n}`)
  const requested = uuids.map((uuid) => byUuid.find(uuid))
  await iteration()
  lookupCount[0]?.answer(known(1))
  await Promise.all(requested)
  // All of them are old enough before the first is used: their ages differ by a moment.
  const keptAt = performance.now()
  await eventually('all of them to age', () => performance.now() - keptAt > REFRESH_AFTER_MS / 2 + 50)
  for (const uuid of uuids) byUuid.peek(uuid)
  await eventually('a second look-up', () => lookupCount.length > 1)
  t.deepEqual(lookupCount[1]?.uuids, uuids.slice(0, 1_000))
  lookupCount[1]?.answer(known(2))
  await eventually('a third look-up', () => lookupCount.length > 2)
  t.deepEqual(lookupCount[2]?.uuids, uuids.slice(1_000))
})

test('a refresh-ahead from before a change is not cached after it', async (t) => {
  const { lookupCount, byUuid, forget } = openSlowCache(REFRESH_AFTER_MS)
  const requested = byUuid.find('a')
  await iteration()
  lookupCount[0]?.answer(known(1))
  await requested
  await eventually('a second look-up', () => {
    t.deepEqual(byUuid.peek('a'), known(1))
    return lookupCount.length > 1
  })
  forget({ kind: 'check', uuid: 'a', projectId: 1 })
  lookupCount[1]?.answer(known(1))
  await iteration()
  t.is(byUuid.peek('a'), undefined)
})

test('a failed refresh-ahead fails no request, and is not repeated at once', async (t) => {
  let isAway = false
  let tries = 0
  const { byUuid } = createCheckCache(
    {
      byUuid: async (uuids) => {
        tries += 1
        if (isAway) throw new Error('the database is away')
        return new Map(uuids.map((uuid) => [uuid, known(1)]))
      },
      bySlug: async () => new Map(),
    },
    REFRESH_AFTER_MS,
  )
  await byUuid.find('a')
  isAway = true
  await eventually('its time to be over', () => byUuid.peek('a') === undefined)
  t.is(tries, 2)
  t.deepEqual(await byUuid.find('a'), known(1), 'memory stands in')
})
