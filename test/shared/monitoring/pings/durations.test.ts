import test from 'ava'
import { finishDurations, planDurations, type TimedPing } from '#shared/monitoring/pings/durations.ts'
import { toPingView } from '#shared/monitoring/pings/store.ts'

const HOUR = 3_600_000_000
const T0 = 1_704_888_000_000_000

type Event = [TimedPing['type'], number, (string | null)?]

/** Returns pings numbered from `firstN`, from events whose times are in hours. */
function listOf(events: readonly Event[], firstN = 1): TimedPing[] {
  return events
    .map(([type, hours, rid = null], index) => ({ n: firstN + index, type, at: T0 + hours * HOUR, rid }))
    .toReversed()
}

function hoursByNumber(durations: ReadonlyMap<number, number>) {
  return Object.fromEntries([...durations].map(([n, micros]) => [n, micros / HOUR]))
}

const cases: [string, Event[], Record<number, number>][] = [
  [
    'a finish is measured from its start',
    [
      ['start', 0],
      ['success', 1],
    ],
    { 2: 1 },
  ],
  [
    'a fail is measured from its start',
    [
      ['start', 0],
      ['fail', 2],
    ],
    { 2: 2 },
  ],
  [
    'runs are distinguished by their ids',
    [
      ['start', 0, 'a'],
      ['start', 1, 'b'],
      ['success', 3, 'a'],
      ['success', 5, 'b'],
    ],
    { 3: 3, 4: 4 },
  ],
  [
    'a second start replaces the first',
    [
      ['start', 0],
      ['start', 2],
      ['success', 3],
    ],
    { 3: 1 },
  ],
  [
    'a run is measured once',
    [
      ['start', 0],
      ['success', 1],
      ['success', 2],
    ],
    { 2: 1 },
  ],
  [
    'log and ignored pings are not measured',
    [
      ['start', 0],
      ['log', 1],
      ['ign', 2],
      ['success', 3],
    ],
    { 4: 3 },
  ],
  [
    'a run of 72 hours has no duration',
    [
      ['start', 0],
      ['success', 72],
    ],
    {},
  ],
  [
    'a run of less than 72 hours has a duration',
    [
      ['start', 0],
      ['success', 71.5],
    ],
    { 2: 71.5 },
  ],
  [
    'a duration may be zero',
    [
      ['start', 0],
      ['success', 0],
    ],
    { 2: 0 },
  ],
  [
    'a finish that arrived before its start has no duration',
    [
      ['start', 1],
      ['success', 0],
    ],
    {},
  ],
  [
    'a separate run id needs a separate start',
    [
      ['start', 0],
      ['success', 1, 'a'],
      ['success', 2],
    ],
    { 3: 2 },
  ],
]
for (const [title, events, expected] of cases) {
  test(`durations: ${title}`, (t) => {
    t.deepEqual(hoursByNumber(planDurations(listOf(events)).known), expected)
  })
}

test('the start of a finish is searched in earlier pings', (t) => {
  const plan = planDurations(
    listOf(
      [
        ['success', 0, 'a'],
        ['success', 10, 'b'],
        ['success', 11, 'b'],
      ],
      50,
    ),
  )
  t.deepEqual(plan.lookBacks, [
    { n: 50, at: T0, rid: 'a', beforeN: 50, after: T0 - 72 * HOUR },
    { n: 51, at: T0 + 10 * HOUR, rid: 'b', beforeN: 50, after: T0 - 62 * HOUR },
  ])
  const durations = finishDurations(plan, [
    { n: 50, found: { n: 40, type: 'start', at: T0 - 5 * HOUR } },
    { n: 51, found: { n: 41, type: 'success', at: T0 - HOUR } },
  ])
  t.deepEqual(hoursByNumber(durations), { 50: 5 })
})

test('the search ends at ping 1 and after 72 hours', (t) => {
  t.deepEqual(planDurations(listOf([['success', 0]])).lookBacks, [])
  t.deepEqual(
    planDurations(
      listOf(
        [
          ['log', 0],
          ['success', 72],
        ],
        5,
      ),
    ).lookBacks,
    [],
  )
  t.is(
    planDurations(
      listOf(
        [
          ['log', 0],
          ['success', 71],
        ],
        5,
      ),
    ).lookBacks.length,
    1,
  )
})

test('more than ten missing starts give no durations', (t) => {
  const run: Event[] = [
    ['start', 0, 'known'],
    ['success', 1, 'known'],
  ]
  const strays = (count: number) => Array.from({ length: count }, (_, i): Event => ['success', 1, `stray ${i}`])
  t.is(planDurations(listOf([...run, ...strays(10)], 5)).lookBacks.length, 10)
  t.is(planDurations(listOf([...run, ...strays(10)], 5)).known.size, 1)
  t.deepEqual(planDurations(listOf([...run, ...strays(11)], 5)), { known: new Map(), lookBacks: [] })
})

test('an empty list has no durations', (t) => {
  t.deepEqual(planDurations([]), { known: new Map(), lookBacks: [] })
})

test('a ping record has microseconds and a duration in hundredths', (t) => {
  const ping = {
    n: 7,
    type: 'success',
    at: T0,
    scheme: 'http',
    remoteAddr: null,
    method: 'GET',
    ua: '',
    rid: null,
    hasBody: true,
  } as const
  const options = {
    base: 'https://box.example',
    version: 3,
    checkUuid: 'u',
    durations: new Map([[7, 1_236_000]]),
  } as const
  t.deepEqual(toPingView(ping, options), {
    type: 'success',
    date: '2024-01-10T12:00:00.000000+00:00',
    n: 7,
    scheme: 'http',
    remote_addr: null,
    method: 'GET',
    ua: '',
    rid: null,
    body_url: 'https://box.example/api/v3/checks/u/pings/7/body',
    duration: 1.24,
  })
  t.false('duration' in toPingView({ ...ping, n: 8 }, options))
  t.is(toPingView({ ...ping, hasBody: false }, options).body_url, null)
})
