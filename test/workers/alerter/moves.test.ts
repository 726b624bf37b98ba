import test from 'ava'
import { transferCheck } from '#shared/monitoring/operations/projects.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { notifiedOf, withChecks } from './checks-with-webhook.ts'

const WORKERS = ['ping-evaluator', 'alerter', 'notifier', 'sweeper']

test('moving a check ends its incident and its suppression of children', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: WORKERS })
  const { db, deps } = product
  const { checks, post, ping } = await withChecks(product, sink, ['moved', 'stays', 'child'])
  const [moved, stays, child] = checks
  if (!moved) return t.fail()
  t.is((await post(`/checks/${child?.uuid}/rules`, { parents: [{ check: moved.uuid }] })).status, 200)
  await post('/policies/', { name: 'p', match: '*', steps: [{ repeat: { every: 60 } }] })
  for (const check of checks) await ping(check)
  for (const check of [moved, stays]) await ping(check, '/fail')
  await sink.waitFor(2)
  await ping(child, '/fail')
  await eventually('the child to be suppressed', () =>
    db('incidents').where({ check_id: child?.id, suppression: 'PARENT_DOWN' }).first(),
  )
  const from = await db('projects').where({ id: moved.projectId }).first('id', 'organisation_id as organisationId')
  const { project: to } = await addProject(deps)
  const actor = { kind: 'operator', name: 'tester' } as const
  await transferCheck(db, actor, { uuid: moved.uuid, from, to }, deps)
  await eventually('its incident to end', () =>
    db('incidents').where({ check_id: moved.id, resolution: 'ended' }).first(),
  )
  await sink.waitFor(3)
  t.is(notifiedOf(sink)[2], `down ${child?.uuid}`, 'it is no longer suppressed')
  const earlier = {
    alert_at: db.raw(`alert_at - interval '1 minute'`),
    evaluated_at: db.fn.now(),
    next_at: db.fn.now(),
  }
  await db('incidents').whereNull('resolved_at').andWhere({ check_id: stays?.id }).update(earlier)
  await sink.waitFor(4)
  await ping(moved)
  await ping(stays)
  await sink.waitFor(5)
  t.deepEqual(notifiedOf(sink).slice(3), [`down ${stays?.uuid}`, `up ${stays?.uuid}`])
})
