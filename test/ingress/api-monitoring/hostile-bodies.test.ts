import test from 'ava'
import type { HttpProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

async function create(body: string | Buffer) {
  const { rwKey } = await addProject(app.deps)
  return await send(app.url, '/api/v3/checks/', { method: 'POST', headers: { 'X-Api-Key': rwKey }, body })
}

const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{"name":"x"}', 'utf16le')])

for (const [what, body] of [
  ['arrays nested 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['objects nested 100,000 deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['a list at the top', '[]'],
  ['UTF-16', utf16],
  ['an infinite timeout', '{"timeout": 1e400}'],
  ['a negative zero', '{"timeout": -0}'],
  ['more than a number can hold', '{"timeout": 9007199254740993}'],
  ['half a character', '{"name": "\\ud800"}'],
  ['a NUL', '{"name": "a\\u0000b"}'],
  ['a schedule of 100 kB', JSON.stringify({ schedule: '* '.repeat(50_000) })],
  ['a schedule that never comes', '{"schedule": "0 0 30 2 *"}'],
  ['a path as time zone', '{"schedule": "* * * * *", "tz": "../../etc/passwd"}'],
  ['a slug of look-alikes', '{"slug": "\u0430bc"}'],
  ['a thousand tags', JSON.stringify({ tags: 'tag '.repeat(1000) })],
] as const) {
  test(`${what}: refused with the reason, and nothing breaks`, async (t) => {
    const answer = await create(body)
    t.is(answer.status, 400)
    t.deepEqual(Object.keys(jsonOf(answer) as object), ['error'])
    t.is((await send(app.url, '/livez')).status, 200)
  })
}

test('the last of repeated names counts, and names of object properties are ordinary', async (t) => {
  const answer = await create('{"name": "a", "__proto__": {"x": 1}, "constructor": 1, "toString": 2, "name": "b"}')
  t.like(jsonOf(answer), { name: 'b' })
})

test('a description of 10,000 characters is kept as it is, a longer one is refused', async (t) => {
  const desc = '😀'.repeat(10_000)
  t.like(jsonOf(await create(JSON.stringify({ desc }))), { desc })
  const refused = await create(JSON.stringify({ desc: `${desc}x` }))
  t.deepEqual([refused.status, jsonOf(refused)], [400, { error: 'json validation error: desc is too long' }])
})

test('a request names at most 1,000 integrations in 64 kB', async (t) => {
  const refusal = async (integrations: string) => jsonOf(await create(JSON.stringify({ channels: integrations })))
  t.deepEqual(await refusal(Array(1_001).fill('z').join(',')), {
    error: 'json validation error: channels has more than 1000 items',
  })
  t.deepEqual(await refusal('z'.repeat(65_537)), { error: 'json validation error: channels is too long' })
  t.deepEqual(await refusal(Array(1_000).fill('z').join(',')), { error: 'invalid channel identifier: z' })
})
