import test from 'ava'
import { alertedChecks } from '#shared/monitoring/alerting/fact-store.ts'
import { claimFlips } from '#shared/monitoring/alerting/flip-store.ts'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { insertPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { sweepOverdue } from '#shared/monitoring/checks/overdue-store.ts'
import { recordFlips } from '#shared/monitoring/flips/store.ts'
import { deletePolicy } from '#shared/monitoring/operations/policies.ts'
import { inIndexOrder } from '#shared/platform/database/in-index-order.ts'
import { preparedTransaction } from '#shared/platform/database/prepared.ts'
import { nowMicros } from '#shared/time.ts'
import { addWebhook, notify } from '../../support/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { openProduct, type Product } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'

for (const point of ['after-claim', 'before-commit', 'after-commit']) {
  test.serial(`a crash of the alerter at ${point} notifies of every flip once`, async (t) => {
    await using sink = await openHttpSink()
    await using product = await openProduct()
    const project = await product.project()
    const { deps } = await product.ingress()
    const checks = await Promise.all(Array.from({ length: 5 }, () => addCheck(deps, project.id)))
    await notify(product.db, checks, [await addWebhook(deps, project.id, sink.url)])
    await product.workers(['ping-evaluator'])
    await addFlips(product, checks, 'up', 'down')

    const dying = product.spawn('workers', ['alerter'], { CRASH_AT: point })
    await using _sweeper = await product.workers(['sweeper'])
    t.is(await dying.exited, null, 'it was killed')
    t.is(await waiting(product), point === 'after-commit' ? 0 : 5)
    await product.workers(['alerter', 'notifier'])
    await eventually('unpublished messages to be sent', async () => {
      await product.db('outbox').update({ resend_at: product.db.fn.now() })
      return sink.requests.length >= 5
    })
    await addFlips(product, checks, 'down', 'up')
    await sink.waitFor(10)
    t.is(sink.requests.length, 10)
  })
}

test('claiming a page of flips reads only that page, even with outdated statistics', async (t) => {
  await using product = await openProduct()
  const project = await product.project()
  const { db } = product
  await db.raw('ALTER TABLE flips SET (autovacuum_enabled = false)')
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `INSERT INTO checks (project_id, name, status) SELECT ?, 'check ' || n, 'down' FROM generate_series(1, 2000) n
     RETURNING id`,
    [project.id],
  )
  const insert = (processed: string) =>
    db.raw(`INSERT INTO flips (check_id, at, from_status, to_status, reason, processed_at)
            SELECT id, now(), 'up', 'down', 'timeout', ${processed} FROM checks`)
  await insert('now()')
  await db.raw('VACUUM ANALYZE flips')
  await insert('NULL')
  await db.transaction(async (tx) => {
    t.is((await inIndexOrder(tx, () => claimFlips(tx, 500))).length, 500)
    const ids = rows.map(({ id }) => Number(id))
    const checks = await alertedChecks(tx, ids, ids)
    t.is(checks.filter(({ hasFlip }) => hasFlip).length, 2000)
    const { rows: read } = await tx.raw<{ rows: { rows: string }[] }>(
      "SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relname = 'flips'",
    )
    // Per check, the previous flip and the waiting one.
    t.true(Number(read[0]?.rows) < 5 * (500 + 2000), `${read[0]?.rows} rows were read`)
  })
})

test('two alerters process each flip once, and those of a check in order', async (t) => {
  await using product = await openProduct()
  const project = await product.project()
  const { deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 20 }, () => addCheck(deps, project.id)))
  await notify(product.db, checks, [await addWebhook(deps, project.id, 'http://127.0.0.1:1')])
  for (let round = 0; round < 100; round++) {
    await addFlips(product, checks, 'up', 'down')
    await addFlips(product, checks, 'down', 'up')
  }
  // processed_at is the start of the transaction, which may have waited for the other one, so a trigger stores the time.
  await product.db.raw(`
    CREATE TABLE processed (flip_id bigint, at timestamptz DEFAULT clock_timestamp(), tx bigint DEFAULT txid_current());
    CREATE FUNCTION note_processed() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO processed (flip_id) VALUES (NEW.id); RETURN NULL; END';
    CREATE TRIGGER processed AFTER UPDATE OF processed_at ON flips
      FOR EACH ROW EXECUTE FUNCTION note_processed()`)
  await product.workers(['alerter'])
  await product.workers(['alerter', 'sweeper'])
  // In thousands, because all together exceed the timeout of one wait on a slow machine.
  for (const left of [3000, 2000, 1000, 0])
    await eventually(`all but ${left} to be processed`, async () => (await waiting(product)) <= left)
  const [notified] = (
    await product.db.raw('SELECT count(*) AS rows, count(DISTINCT flip_id) AS flips FROM notifications')
  ).rows
  t.deepEqual({ rows: Number(notified.rows), flips: Number(notified.flips) }, { rows: 4000, flips: 4000 })
  const { rows: reordered } = await product.db.raw(`
    SELECT 1 FROM flips a JOIN flips b ON b.check_id = a.check_id AND b.id > a.id
      JOIN processed f ON f.flip_id = a.id JOIN processed g ON g.flip_id = b.id
    WHERE g.tx <> f.tx AND g.at < f.at`)
  t.is(reordered.length, 0)
  t.is((await product.db('processed').select('flip_id')).length, 4000)
})

test('a page of overdue checks and a batch of flips send one message each', async (t) => {
  await using product = await openProduct()
  const project = await product.project()
  const { deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 30 }, () => addCheck(deps, project.id)))
  await product.db('checks').update({ status: 'up', last_ping: new Date(0), alert_after: new Date(1000) })
  const swept = await sweepOverdue(product.db, nowMicros(), { answered: [0], total: 1 })
  t.is(swept.down.length, 30)
  t.deepEqual(
    swept.messages.map(({ message, payload }) => ({ message, payload })),
    [{ message: 'alerts.wake', payload: {} }],
  )
  t.is((await addFlips(product, checks, 'down', 'up')).length, 1)
  t.is((await addFlips(product, checks, 'new', 'up')).length, 0, 'the first success triggers no notification')
  t.is(await waiting(product), 60)
})

test('an old flip notifies only if the check still has this status', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct()
  const project = await product.project()
  const { deps } = await product.ingress()
  const still = await addCheck(deps, project.id, { name: 'still down' })
  const over = await addCheck(deps, project.id, { name: 'long over' })
  await notify(product.db, [still, over], [await addWebhook(deps, project.id, sink.url)])
  await product.db('checks').where({ id: still.id }).update({ status: 'down' })
  await product.db('checks').where({ id: over.id }).update({ status: 'up' })
  const at = new Date(Date.now() - 3 * 86_400_000)
  const flip = { at, from_status: 'up', to_status: 'down', reason: 'timeout' }
  await product.db('flips').insert([
    { ...flip, check_id: over.id },
    { ...flip, check_id: still.id },
  ])
  await product.workers(['alerter', 'notifier', 'sweeper'])
  t.is((await sink.waitFor(1)).body.toString(), still.uuid)
  t.deepEqual(
    (await product.db('flips').whereNull('processed_at').select('check_id')).map((row) => Number(row.check_id)),
    [over.id],
  )
})

test('deleting a policy notifies of an outage that waited for its conditions', async (t) => {
  await using sink = await openHttpSink()
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  const { deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  await notify(db, [check], [await addWebhook(deps, project.id, sink.url)])
  const plan = { ...IMPLICIT_PLAN, when: { ...IMPLICIT_PLAN.when, down_for: 3600 } }
  const policy = await insertPolicy(db, project.id, { name: 'p', match: '*', position: 0, plan })
  await product.workers(['ping-evaluator', 'alerter', 'notifier', 'sweeper'])
  await db('checks').where({ id: check.id }).update({ status: 'down' })
  await addFlips(product, [check], 'up', 'down')
  await eventually('it to wait', async () => (await db('incidents').where({ suppression: 'DOWN_FOR' })).length === 1)
  t.is(sink.requests.length, 0)
  const deleted = { project, uuid: policy.uuid }
  await deletePolicy(db, { kind: 'operator', name: 'tester' }, deleted)
  t.is((await sink.waitFor(1)).path, '/down')
  await db('checks').where({ id: check.id }).update({ status: 'up' })
  await addFlips(product, [check], 'down', 'up')
  await sink.waitFor((request) => request.path === '/up')
  t.is(sink.requests.length, 2)
})

async function addFlips(
  product: Product,
  checks: readonly { id: number }[],
  from: 'new' | 'up' | 'down',
  to: 'up' | 'down',
) {
  const reason = to === 'down' ? 'fail' : ''
  const flips = checks.map(({ id }) => ({ checkId: id, at: nowMicros(), from, to, reason, processed: false }) as const)
  return await preparedTransaction(product.db, (run) => recordFlips(run, flips))
}

async function waiting(product: Product): Promise<number> {
  return (await product.db('flips').whereNull('processed_at').select('id')).length
}
