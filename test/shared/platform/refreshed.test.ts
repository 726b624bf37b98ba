import test from 'ava'
import { refreshed } from '#shared/platform/process/refreshed.ts'

const AN_HOUR = 3_600_000

test('a fresh value is not reloaded; a stale one is, given the former value', async (t) => {
  const given: (number | undefined)[] = []
  const get = refreshed(async (known?: number) => given.push(known))
  t.deepEqual([await get(AN_HOUR), await get(AN_HOUR), await get(0)], [1, 1, 2])
  t.deepEqual(given, [undefined, 1])
})

test('concurrent callers share one load', async (t) => {
  let loads = 0
  const get = refreshed(async () => ++loads)
  t.deepEqual(await Promise.all([get(0), get(0), get(AN_HOUR)]), [1, 1, 1])
})

test('a failure is thrown, and the next call retries', async (t) => {
  let loads = 0
  const get = refreshed(async () => {
    loads += 1
    if (loads === 2) throw new Error('away')
    return loads
  })
  t.is(await get(0), 1)
  await t.throwsAsync(get(0), { message: 'away' })
  t.is(await get(AN_HOUR), 1, 'what was known is still fresh enough for others')
  t.is(await get(0), 3)
})
