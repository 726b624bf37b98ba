import { randomUUID } from 'node:crypto'
import test from 'ava'
import { closeGap } from '#shared/monitoring/operations/uptime.ts'
import { toIsoSeconds } from '#shared/time.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'

test('GET /gaps/ lists coverage gaps with the number of unknown checks', async (t) => {
  await using product = await openProduct({ listener: 'http', workers: [] })
  const { db, deps, url } = product
  const own = await addProject(deps)
  const other = await addProject(deps)
  const mine = await addCheck(deps, own.project.id)
  const theirs = await addCheck(deps, other.project.id)
  const at = (text: string) => new Date(`2026-03-01T${text}Z`)
  await db('coverage_gaps').insert([
    { listener: 'http', shards: 1, from_at: at('02:50:04'), until_at: at('03:20:11'), kind: 'full', cause: 'broker' },
    {
      listener: 'sweeper',
      shards: 0,
      from_at: at('05:00:00'),
      until_at: at('05:10:00'),
      kind: 'detection',
      cause: 'x',
    },
    { listener: 'http', shards: 2, from_at: at('06:00:00'), until_at: null, kind: 'full', cause: 'broker' },
  ])
  const unknown = (check: { id: number }) => ({
    check_id: check.id,
    gap_from: at('02:50:04'),
    gap_until: at('03:20:11'),
    from_at: at('03:00:00'),
    expected_at: at('03:10:00'),
    reason: 'GAP',
  })
  await db('unknown_periods').insert([unknown(mine), unknown(theirs)])

  const list = async (query: string, key: string) =>
    jsonOf(await send(url, `/api/v3/gaps/${query}`, { headers: { 'X-Api-Key': key } }))
  const first = await list('?limit=2', own.roKey)
  t.like(first, {
    gaps: {
      0: { listener: 'http', from: '2026-03-01T06:00:00+00:00', until: null, scope: 'some', kind: 'full', checks: 0 },
      1: { listener: 'sweeper', kind: 'detection', scope: 'all', checks: 0 },
    },
  })
  const second = await list(`?limit=2&before=${(first as { next: string }).next}`, own.roKey)
  t.deepEqual(second, {
    gaps: [
      {
        from: '2026-03-01T02:50:04+00:00',
        until: '2026-03-01T03:20:11+00:00',
        listener: 'http',
        scope: 'all',
        kind: 'full',
        cause: 'broker',
        checks: 1,
      },
    ],
    next: null,
  })
  const refused = await send(url, '/api/v3/gaps/?limit=0', { headers: { 'X-Api-Key': own.roKey } })
  t.is(refused.status, 400)
  t.is((await send(url, '/api/v3/gaps/', { headers: { 'X-Api-Key': 'wrong' } })).status, 401)
})

test('the gap of a killed listener ends when an operator retires the listener', async (t) => {
  await using product = await openProduct({ listener: 'http' })
  const { db } = product
  await db.raw(
    `INSERT INTO listener_heartbeats (instance, kind, span, shards, from_at, until_at)
     VALUES (?, 'smtp', 1, 1, now() - interval '2 hours', now() - interval '1 hour')`,
    [randomUUID()],
  )
  const checks: (() => string[] | Promise<string[]>)[] = []
  const { metrics } = await product.workers(['sweeper'], { readiness: { add: (check) => void checks.push(check) } })
  const problems = async () => (await Promise.all(checks.map((check) => check()))).flat()
  const gap = await eventually(
    'the gap to be found',
    async () => (await db('coverage_gaps').where({ listener: 'smtp' }))[0],
  )
  t.is(gap.until_at, null)
  await eventually('readiness to report it', async () =>
    (await problems()).some((problem) => problem.startsWith('gaps: smtp has accepted no pings since')),
  )
  const metricOf = async (name: string) => await metrics.registry.getSingleMetricAsString(`signalbox_${name}`)
  await eventually('the metric', async () => /\{listener="smtp"\} 1/.test(await metricOf('gap_open')))
  // A process that stalled did not prove in time that its own listener takes pings.
  const refusal = () => closeGap(db, 'http').catch((error: Error) => error.message)
  await eventually(
    'the HTTP listener to accept pings',
    async () => (await refusal()) === 'http receives pings: there is no gap to close',
  )
  const missedSince = await eventually('the mail listener to be retired', () =>
    closeGap(db, 'smtp').catch((error: Error) => {
      if (!error.message.startsWith('http has received no pings either')) throw error
      return undefined
    }),
  )
  t.is(toIsoSeconds(missedSince).slice(0, 19), gap.from_at.toISOString().slice(0, 19))
  await eventually(
    'the gap to be closed',
    async () => (await db('coverage_gaps').where({ listener: 'smtp' }).whereNotNull('until_at')).length === 1,
  )
  await eventually('the metrics to follow', async () => (await metricOf('gap_open')).includes('{listener="smtp"} 0'))
  t.regex(await metricOf('gap_seconds_total'), /\{listener="smtp",cause="[^"]+"\} \d/)
  t.regex(await metricOf('heartbeat_age_seconds'), /\{kind="sweeper"\} \d/)
  await eventually('readiness to follow', async () => (await problems()).every((it) => !it.startsWith('gaps')))
})
