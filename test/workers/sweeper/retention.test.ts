import { randomUUID } from 'node:crypto'
import test from 'ava'
import { decryptKey, leaseKey, storeAnswer } from '#shared/tenancy/idempotency/store.ts'
import { nowMicros } from '#shared/time.ts'
import { processFlips } from '../../../workers/alerter/process-flips.ts'
import { dueAlerts } from '../../../workers/sweeper/sweeps/due-messages.ts'
import { openRuns } from '../../../workers/sweeper/sweeps/open-runs.ts'
import { retention } from '../../../workers/sweeper/sweeps/retention.ts'
import { statements } from '../../../workers/sweeper/sweeps/statements.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'

test('idempotency keys are deleted after their retention, and not before', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const [organisation] = await db('organisations').insert({ name: 'Org' }).returning(['id'])
  const scope = (key: string) => ({ organisationId: Number(organisation?.id), env: 'SANDBOX', key })
  const fingerprint = Buffer.alloc(32, 1)
  const answer = { status: 200, headers: {}, body: '{}' }
  await db.transaction(async (tx) => {
    await storeAnswer(tx, scope('answered'), fingerprint, answer)
    await storeAnswer(tx, scope('old'), fingerprint, answer)
    await storeAnswer(tx, scope('a week'), fingerprint, answer, 7)
    await leaseKey(tx, scope('under way'), fingerprint, answer)
  })
  await db.raw(
    "UPDATE idempotency_keys SET expires_at = expires_at - interval '25 hours' WHERE key IN ('old', 'a week')",
  )
  const deps = await product.workers([])
  await retention.run({ deps, barriers: { answering: async () => new Set<number>() }, now: nowMicros() })
  const left = await db('idempotency_keys').select('key').orderBy('key')
  t.deepEqual(
    left.map(({ key }) => key),
    ['a week', 'answered', 'under way'],
  )
  const found = await db.transaction((tx) => decryptKey(tx, scope('old'), fingerprint))
  t.is(found.state, 'free')
})

test('entries of the audit log are deleted after their retention, and not before', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const entry = (action: string, days: number) =>
    db.raw("INSERT INTO audit_log (actor, action, at) VALUES ('a', ?, now() - make_interval(days => ?::int))", [
      action,
      days,
    ])
  await entry('too.old', 401)
  await entry('still.kept', 399)
  const deps = await product.workers([])
  await retention.run({ deps, barriers: { answering: async () => new Set<number>() }, now: nowMicros() })
  t.deepEqual(await db('audit_log').pluck('action'), ['still.kept'])
})

test('ended incidents are deleted after 400 days and maintenance windows after 90, with their rows', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  const deps = await product.workers([])
  const check = await addCheck(deps, project.id)
  const daysAgo = (days: number) => db.raw(`now() - make_interval(days => ?::int)`, [days])
  const kept = randomUUID()
  const open = randomUUID()
  const incident = { project_id: project.id, check_id: check.id, is_direct: false, severity: 'critical' }
  const ended = { ...incident, state: 'resolved', down_at: daysAgo(500) }
  await db('incidents').insert([
    { ...ended, id: randomUUID(), resolved_at: daysAgo(401) },
    { ...ended, id: kept, resolved_at: daysAgo(399) },
    { ...incident, state: 'alerting', down_at: daysAgo(500), id: open },
  ])
  const window = { project_id: project.id, match: '*', starts_at: daysAgo(100) }
  await db('maintenance_windows').insert([
    { ...window, name: 'past', ends_at: daysAgo(91) },
    { ...window, name: 'kept', ends_at: daysAgo(89) },
  ])
  await retention.run({ deps, barriers: { answering: async () => new Set<number>() }, now: nowMicros() })
  t.deepEqual((await db('incidents').pluck('id')).sort(), [kept, open].sort())
  t.deepEqual(await db('maintenance_windows').pluck('name'), ['kept'])
})

test('alerting metrics count open, due, undecided, decided and unstated items', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  const deps = await product.workers([])
  const [down, watched] = [await addCheck(deps, project.id), await addCheck(deps, project.id)]
  await db('checks').where({ id: down.id }).update({ status: 'down' })
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  await db('flips').insert({ check_id: down.id, at: ago(0), from_status: 'up', to_status: 'down', reason: 'fail' })
  await db('runs').insert({ check_id: watched.id, slot: 0, n: 1, started_at: ago(10), outcome: 'open' })
  const incident = { project_id: project.id, check_id: watched.id, is_direct: false, severity: 'critical' }
  const due = { id: randomUUID(), state: 'acknowledged', down_at: ago(10), next_at: ago(5) }
  await db('incidents').insert({ ...incident, ...due })
  await db('projects')
    .where({ id: project.id })
    .update({ statements_since: ago(3 * 24 * 60) })
  const tick = { deps, barriers: { answering: async () => new Set<number>() }, now: nowMicros(), isUnsettled: true }
  for (const sweep of [retention, dueAlerts, openRuns, statements]) await sweep.run(tick)
  const metricOf = async (name: string, labels = '') => {
    const text = await deps.metrics.registry.getSingleMetricAsString(`signalbox_${name}`)
    const line = text.split('\n').find((one) => one.startsWith(`signalbox_${name}${labels} `))
    return Number(line?.split(' ').at(-1) ?? Number.NaN)
  }
  t.is(await metricOf('incidents_open', '{state="acknowledged"}'), 1)
  t.is(await metricOf('incidents_open', '{state="alerting"}'), 0)
  t.true((await metricOf('alerts_oldest_due_seconds')) >= 300)
  t.is(await metricOf('unprocessed_flips'), 1)
  t.is(await metricOf('open_runs'), 1)
  t.true((await metricOf('statement_age_seconds')) > 24 * 3600)
  while ((await processFlips(deps)) > 0);
  t.is(await metricOf('alert_decisions_total', '{outcome="none",reason="NO_INTEGRATIONS"}'), 1)
  await dueAlerts.run(tick)
  t.deepEqual([await metricOf('unprocessed_flips'), await metricOf('alerts_oldest_due_seconds')], [0, 0])
})
