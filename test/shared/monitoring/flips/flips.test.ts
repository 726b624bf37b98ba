import test from 'ava'
import { downtimeByMonth, knownSince } from '#shared/monitoring/flips/downtime.ts'
import { type Flip, parseFlipFilters, toFlipView } from '#shared/monitoring/flips/filters.ts'

const micros = (iso: string) => Date.parse(iso) * 1000
const NOW = micros('2024-03-10T00:00:00Z')

test('only a flip to up shows as up', (t) => {
  const at = micros('2024-01-10T12:00:00Z') + 999_999
  t.deepEqual(toFlipView({ at, to: 'up' }), { timestamp: '2024-01-10T12:00:00+00:00', up: 1 })
  for (const to of ['down', 'paused', 'new'] as const) t.is(toFlipView({ at, to }).up, 0)
})

for (const [query, from, before] of [
  ['', null, null],
  ['start=100', 100_000_000, null],
  ['end=0', null, 0],
  ['start=1&start=2&end=%203%20', 2_000_000, 3_000_000],
  ['start=10000000000', 10_000_000_000_000_000, null],
  ['seconds=60', NOW - 60_000_000, null],
  ['seconds=1.0', NOW - 1_000_000, null],
  ['seconds=0', null, null],
  ['seconds=', null, null],
  ['seconds=60&start=5', NOW - 60_000_000, null],
  ['other=x', null, null],
] as const) {
  test(`the filter ${JSON.stringify(query)} is a range`, (t) => {
    t.deepEqual(parseFlipFilters(new URLSearchParams(query), NOW), { from, before })
  })
}

for (const query of ['start=', 'end=x', 'start=1.0', 'seconds=1.5', 'seconds=-1', 'end=1e3', 'seconds=31536001']) {
  test(`the filter ${query} is refused`, (t) => {
    t.is(parseFlipFilters(new URLSearchParams(query), NOW), null)
  })
}

const flip = (iso: string, from: Flip['from'], to: Flip['to']): Flip => ({ at: micros(iso), from, to })

test('an outage across two months is divided between them', (t) => {
  const flips = [
    flip('2024-03-01T01:00:00Z', 'down', 'up'),
    flip('2024-02-29T23:00:00Z', 'up', 'down'),
    flip('2024-02-10T00:00:00Z', 'up', 'down'),
    flip('2024-02-10T00:01:00Z', 'down', 'paused'),
  ]
  t.deepEqual(
    downtimeByMonth(flips, 3, NOW).map(({ seconds, count }) => [seconds, count]),
    [
      [3600, 1],
      [3660, 2],
      [0, 0],
    ],
  )
})

test('an open outage lasts until now, one without a start covers all earlier time', (t) => {
  const [march] = downtimeByMonth([flip('2024-03-09T23:00:00Z', 'up', 'down')], 1, NOW)
  t.like(march, { from: micros('2024-03-01T00:00:00Z'), until: NOW, seconds: 3600, count: 1 })
  const [, february] = downtimeByMonth([flip('2024-03-01T00:00:10Z', 'down', 'up')], 2, NOW)
  t.is(february?.seconds, 29 * 86_400)
})

test('computes months across the end of a year', (t) => {
  const spans = downtimeByMonth([], 4, NOW).map(({ from }) => from)
  t.is(spans.at(-1), micros('2023-12-01T00:00:00Z'))
})

test('the status of a check is known since its first flip to up or down', (t) => {
  const [made, first, down] = [NOW - 3_000_000, NOW - 2_000_000, NOW - 1_000_000]
  const begin: Flip = { at: first, from: 'new', to: 'up' }
  t.is(knownSince({ nPings: 0 }, [], made), null)
  t.is(knownSince({ nPings: 9 }, [{ at: down, from: 'up', to: 'down' }, begin], made), first)
  t.is(knownSince({ nPings: 0 }, [{ at: first, from: 'new', to: 'paused' }], made), null)
  t.is(knownSince({ nPings: 9 }, [], made), made, 'its first flip was deleted')
})
