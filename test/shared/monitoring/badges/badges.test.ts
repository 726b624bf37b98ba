import test from 'ava'
import { badgeSvg, parseBadgeFormat, renderBadge } from '#shared/monitoring/badges/badge.ts'
import {
  badgeListTexts,
  badgeSignature,
  badgeUrls,
  resolveBadgeTag,
  verifyBadgeSignature,
} from '#shared/monitoring/badges/signature.ts'
import { badgeState, countStatus, NO_CHECKS } from '#shared/monitoring/badges/state.ts'

const secret = 'a server secret'
const key = '0b3e0b1c-51b6-4a0e-9b0a-6f7f1c7a5b11'
const base = 'https://box.example'

test('a badge signature depends on secret, badge key and tag', (t) => {
  const signature = badgeSignature(secret, key, 'db')
  t.regex(signature, /^[\w-]{8}$/)
  const others = [badgeSignature('x', key, 'db'), badgeSignature(secret, 'x', 'db'), badgeSignature(secret, key, 'x')]
  t.is(new Set([signature, ...others]).size, 4)
})

for (const [tail, states] of [
  ['', 3],
  ['-2', 2],
  ['-3', 3],
  ['-22', 3],
  ['x-2', 3],
] as const) {
  test(`a signature that ends in ${JSON.stringify(tail)} selects ${states} states`, (t) => {
    t.is(verifyBadgeSignature(secret, key, '*', badgeSignature(secret, key, '*') + tail), states)
  })
}

test('a wrong or short signature does not verify', (t) => {
  const signature = badgeSignature(secret, key, 'a')
  for (const wrong of ['12345678', '', signature.slice(1), signature.toLowerCase().toUpperCase(), '日本語日本語日本']) {
    t.is(verifyBadgeSignature(secret, key, 'a', wrong), null)
  }
})

test('accepts the tag of a badge URL encoded once or twice', (t) => {
  const signature = badgeSignature(secret, key, 'db@dc1')
  for (const tag of ['db@dc1', 'db%40dc1']) {
    t.deepEqual(resolveBadgeTag(secret, key, tag, signature), { tag: 'db@dc1', states: 3 })
  }
  t.is(resolveBadgeTag(secret, key, '%zz', signature), null)
  t.is(
    resolveBadgeTag(secret, key, '*', badgeSignature(secret, key, '*')),
    null,
    'a badge of the project has another form',
  )
})

test('returns the badge URLs of a tag and of the project', (t) => {
  const signed = `${base}/badge/${key}/${badgeSignature(secret, key, 'db@dc1')}`
  t.like(badgeUrls(base, secret, key, 'db@dc1'), {
    svg: `${signed}-2/db%2540dc1.svg`,
    svg3: `${signed}/db%2540dc1.svg`,
    json3: `${signed}/db%2540dc1.json`,
    shields: `${signed}-2/db%2540dc1.shields`,
  })
  t.is(badgeUrls(base, secret, key, '*').json, `${base}/badge/${key}/${badgeSignature(secret, key, '*')}-2.json`)
})

test('the badges list contains the project and tags with any name', (t) => {
  const names = (tags: string[]) =>
    Object.keys(JSON.parse([...badgeListTexts(base, secret, key, tags)].join('')).badges)
  t.deepEqual(names([]), ['*'])
  t.deepEqual(names(['__proto__', 'a']), ['__proto__', 'a', '*'])
})

for (const [statuses, states, status] of [
  [[], 2, 'up'],
  [['new', 'paused', 'up'], 3, 'up'],
  [['up', 'grace'], 3, 'late'],
  [['up', 'grace'], 2, 'up'],
  [['grace', 'down'], 3, 'down'],
  [['down', 'up'], 2, 'down'],
] as const) {
  test(`a badge of ${states} states over [${statuses.join(', ')}] is ${status}`, (t) => {
    const count = (wanted: string) => statuses.filter((one) => one === wanted).length
    t.deepEqual(badgeState(statuses.reduce(countStatus, NO_CHECKS), states), {
      status,
      total: statuses.length,
      grace: count('grace'),
      down: count('down'),
    })
  })
}

test('renders a badge as JSON, for shields and as SVG', (t) => {
  const state = { status: 'late', total: 2, grace: 1, down: 0 } as const
  t.deepEqual(JSON.parse(renderBadge('json', 'db', state).body), state)
  const shields = { schemaVersion: 1, label: 'db', message: 'late', color: 'important' }
  t.deepEqual(JSON.parse(renderBadge('shields', 'db', state).body), shields)
  t.is(renderBadge('svg', 'db', state).contentType, 'image/svg+xml')
  t.is(parseBadgeFormat('png'), null)
})

test('an SVG badge has the colour of its status and an escaped label', (t) => {
  const svg = badgeSvg(`<script>"&'\u0001`, 'down')
  t.true(svg.includes('height="20"') && svg.includes('#555') && svg.includes('#e05d44'))
  t.true(svg.includes('&lt;script&gt;&quot;&amp;&#39;\ufffd'))
  t.false(svg.includes('<script'))
})
