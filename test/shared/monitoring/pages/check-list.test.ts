import test from 'ava'
import { formatCursor, parseListQuery, summarise } from '#shared/monitoring/pages/check-list.ts'
import { downDays } from '#shared/monitoring/pages/down-days.ts'

const parse = (query: string) => parseListQuery(new URLSearchParams(query))

test('reads filters and order from the query of a list', (t) => {
  t.deepEqual(parse('tag=prod&tag=db&tag=prod&q= backup &status=down&quiet=acknowledged&sort=status'), {
    filter: { tags: ['prod', 'db'], search: 'backup', status: 'down', quiet: 'acknowledged' },
    sort: 'status',
    after: null,
    before: null,
  })
})

for (const query of ['status=burning&sort=colour&after=x', 'after=bnVsbA', 'before=W10', 'q=%00', 'quiet=loud'])
  test(`ignores invalid parameters of a list: ${query}`, (t) => {
    t.deepEqual(parse(query), {
      filter: { tags: [], search: '', status: null, quiet: null },
      sort: 'status',
      after: null,
      before: null,
    })
  })

test('a cursor is valid only for its order', (t) => {
  const byName = formatCursor({ group: '', key: 'backup', id: 7 })
  t.deepEqual(parse(`sort=name&after=${byName}`).after, { group: '', key: 'backup', id: 7 })
  t.is(parse(`sort=created&after=${byName}`).after, null)
  t.is(parse(`sort=created&before=${byName}`).before, null)
})

const day = 86_400_000_000
const noon = Date.UTC(2026, 0, 10, 12) * 1000

test('divides downtime by day; days before the first flip are unknown', (t) => {
  const flips = [
    { at: noon - 2 * day, from: 'up', to: 'down' },
    { at: noon - 1 * day, from: 'down', to: 'up' },
  ] as const
  t.deepEqual(downDays(flips, 4, noon), [
    { date: '2026-01-07', seconds: null },
    { date: '2026-01-08', seconds: 43_200 },
    { date: '2026-01-09', seconds: 43_200 },
    { date: '2026-01-10', seconds: 0 },
  ])
})

test('an open outage counts until now', (t) => {
  const flips = [{ at: noon - 3_600_000_000, from: 'up', to: 'down' }] as const
  t.is(downDays(flips, 1, noon)[0]?.seconds, 3600)
})

test('counts each check once per status and tag', (t) => {
  const all = { isRunning: false, isFound: true }
  const groups = [
    { ...all, tags: 'prod db', status: 'up', count: 3 },
    { ...all, tags: 'prod  prod', status: 'down', count: 2, isRunning: true },
    { ...all, tags: '', status: 'new', count: 1 },
  ] as const
  const summary = summarise(groups)
  t.is(summary.total, 6)
  t.deepEqual(Object.fromEntries(summary.statuses), { up: 3, down: 2, running: 2, new: 1 })
  t.deepEqual(summary.tags, [
    { tag: 'db', count: 3, down: 0 },
    { tag: 'prod', count: 5, down: 2 },
  ])

  const down = summarise(groups, { tags: ['prod'], status: 'down' })
  t.like(down, { total: 6, found: 2 })
  t.deepEqual(Object.fromEntries(down.statuses), { up: 3, down: 2, running: 2 }, 'only checks with the tag are counted')
  t.deepEqual(down.tags, [{ tag: 'prod', count: 2, down: 2 }], 'only checks with the tag that are down are counted')
  t.is(summarise(groups, { tags: [], status: 'running' }).found, 2)
  t.is(
    summarise([{ ...groups[0], isFound: false }, groups[1]]).found,
    2,
    'checks that the search excludes are not counted',
  )
})
