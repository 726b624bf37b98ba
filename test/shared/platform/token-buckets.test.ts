import test from 'ava'
import { createTokenBuckets } from '#shared/platform/process/token-buckets.ts'

test('a bucket holds the tokens of a minute and regains them evenly', (t) => {
  const buckets = createTokenBuckets(2)
  t.deepEqual(
    [0, 0, 0].map((at) => buckets.take('a', at).granted),
    [true, true, false],
  )
  t.deepEqual(buckets.take('a', 15_000), { granted: false, left: 0, fullInSeconds: 45, retryAfterSeconds: 15 })
  t.true(buckets.take('a', 30_000).granted)
  t.true(buckets.take('b', 30_000).granted, 'another name, another bucket')
})

test('the least used bucket is evicted, so that the number stays limited', (t) => {
  const buckets = createTokenBuckets(1, 2)
  t.true(buckets.take('a', 0).granted)
  t.true(buckets.take('b', 0).granted)
  t.false(buckets.take('a', 0).granted)
  t.true(buckets.take('c', 0).granted, 'takes the place of b')
  t.false(buckets.take('a', 0).granted, 'a was used after b, and is kept')
  t.true(buckets.take('b', 0).granted)
})
