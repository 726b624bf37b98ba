import test from 'ava'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { insertPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { addWebhook, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'

const CHECKS = 40

test.serial('property 7: concurrent and crashing alerters notify exactly once under a policy', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct({ listener: 'http', workers: ['ping-evaluator'] })
  const { db, deps, url } = product
  const { project } = await addProject(deps)
  const step = IMPLICIT_PLAN.steps[0]
  if (!step) return t.fail()
  await insertPolicy(db, project.id, {
    name: 'all',
    match: '*',
    position: 0,
    plan: { ...IMPLICIT_PLAN, steps: [step, { ...step, wait: 86_400 }] },
  })
  const checks = await Promise.all(Array.from({ length: CHECKS }, () => addCheck(deps, project.id)))
  await notify(db, checks, [await addWebhook(deps, project.id, sink.url)])
  const pinged = async (end: string) => {
    for (const { uuid } of checks) t.is((await fetch(`${url}/ping/${uuid}${end}`)).status, 200)
  }
  await pinged('')

  const sweepers = [1, 2, 3].map(() => product.spawn('workers', ['sweeper']))
  await pinged('/fail')
  for (const point of ['after-claim', 'before-commit', 'after-commit']) {
    const dying = product.spawn('workers', ['alerter'], { CRASH_AT: point })
    t.is(await dying.exited, null, `it was killed at ${point}`)
    sweepers[0]?.signal('SIGSTOP')
  }
  await using _one = await product.workers(['alerter', 'notifier'])
  await using _other = await product.workers(['alerter'])
  const notified = async (count: number) =>
    await eventually(`${count} messages`, async () => {
      await db('outbox').update({ resend_at: db.fn.now() })
      return sink.requests.length >= count
    })
  await notified(CHECKS)
  await pinged('')
  await notified(2 * CHECKS)
  sweepers[0]?.signal('SIGCONT')
  await eventually('nothing to be left', async () => {
    const [flips, open, pending] = await Promise.all([
      db('flips').whereNull('processed_at'),
      db('incidents').whereNull('resolved_at'),
      db('notifications').where({ state: 'pending' }),
    ])
    return flips.length + open.length + pending.length === 0
  })
  const sent = checks.map(({ uuid }) =>
    sink.requests.map(({ path, body }) => `${path} ${body}`).filter((it) => it.includes(uuid)),
  )
  t.deepEqual(
    sent,
    checks.map(({ uuid }) => [`/down ${uuid}`, `/up ${uuid}`]),
  )
  t.is((await db('flips').where({ to_status: 'down' })).length, CHECKS, 'no check went down for another reason')
  t.is((await db('incidents')).length, CHECKS)
})
