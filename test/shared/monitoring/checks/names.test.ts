import test from 'ava'
import { isSlug, slugify, uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { distinctTags, hasAllTags, splitTags } from '#shared/monitoring/checks/tags.ts'

test('computes the unique key of the published example', (t) => {
  t.is(uniqueKey('803f680d-e89b-492b-82ef-2be7b774a92d'), '124f983e0e3dcaeba921cfcef46efd084576e783')
})

for (const [name, slug] of [
  ['Nightly export', 'nightly-export'],
  ['  Ünïcode -- Façade  ', 'unicode-facade'],
  ['__a_b__', 'a_b'],
  ['Ⅷ & 100%', 'viii-100'],
  ['日本', ''],
  ['-', ''],
] as const) {
  test(`the slug of ${JSON.stringify(name)} is ${JSON.stringify(slug)}`, (t) => {
    t.is(slugify(name), slug)
  })
}

test('a slug is lower-case ASCII throughout', (t) => {
  for (const slug of ['', 'a', '--', '_', '0-9']) t.true(isSlug(slug), slug)
  for (const text of ['A', 'a b', 'a\n', 'é', 'a.b']) t.false(isSlug(text), text)
})

test('only spaces separate tags', (t) => {
  t.deepEqual(splitTags(' a  b,c \td\t '), ['a', 'b,c', 'd'])
  t.deepEqual(distinctTags([{ tags: 'b a' }, { tags: 'a' }, { tags: '' }]), ['a', 'b'])
})

test('a filter requires all of its tags, as whole words', (t) => {
  t.true(hasAllTags('a b', []))
  t.true(hasAllTags('a b', ['b', 'a']))
  for (const wanted of ['c', 'A', '', 'a b', 'ab']) t.false(hasAllTags('a b', [wanted]), wanted)
})
