import test from 'ava'
import type { Knex } from 'knex'
import { claimDueIncidents } from '#shared/monitoring/alerting/incident-store.ts'
import { IMPLICIT_PLAN } from '#shared/monitoring/alerting/policy.ts'
import { insertPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { inIndexOrder } from '#shared/platform/database/in-index-order.ts'
import { execute, query } from '#shared/platform/database/sql.ts'
import { processFlips } from '../../../workers/alerter/process-flips.ts'
import { addChat } from '../../support/alerts.ts'
import { openProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'

/** More than two pages of the alerter. */
const CHECKS = 4_500
/** Grouping delay in seconds. The tests end it themselves. */
const WITHIN = 600

/** Creates a project under a grouping policy whose checks are down, without flips. */
async function openWave(checks = 150) {
  const product = await openProduct({ listener: 'http' })
  const { db } = product
  const { project } = await addProject(product.deps)
  const plan = { ...IMPLICIT_PLAN, group: { checks: 20, within: WITHIN } }
  await insertPolicy(db, project.id, { name: 'grouped', match: '*', position: 0, plan })
  await execute(
    db,
    `INSERT INTO checks (project_id, name, status) SELECT ?, 'check ' || n, 'down' FROM generate_series(1, ?) n`,
    [project.id, checks],
  )
  const chat = await addChat(product.deps, project.id, 'http://127.0.0.1:1')
  await execute(db, 'INSERT INTO check_integrations (check_id, integration_id) SELECT id, ? FROM checks', [chat.id])
  return { product, db, project, deps: await product.workers([]) }
}

/** Adds a flip to down for `count` checks that have none. */
async function goDown(db: Knex, count: number): Promise<void> {
  await execute(
    db,
    `INSERT INTO flips (check_id, at, from_status, to_status, reason)
     SELECT id, now(), 'up', 'down', 'timeout' FROM checks
     WHERE NOT EXISTS (SELECT FROM flips WHERE check_id = checks.id) ORDER BY id LIMIT ?`,
    [count],
  )
}

/** Ends the grouping delay of all incidents. */
async function endWait(db: Knex): Promise<void> {
  await execute(
    db,
    `UPDATE incidents SET alert_at = alert_at - make_interval(secs => ?), next_at = now() WHERE suppression = 'GROUPING'`,
    [WITHIN],
  )
}

/** Creates a project with due incidents after their grouping delay, and with further unprocessed flips. */
async function openGroup({ due, next, checks }: { due: number; next: number; checks?: number }) {
  const wave = await openWave(checks)
  await goDown(wave.db, due)
  await processFlips(wave.deps)
  await endWait(wave.db)
  await goDown(wave.db, next)
  return wave
}

/** Locks all unprocessed flips, as another alerter does. */
async function lockFlips(db: Knex): Promise<Knex.Transaction> {
  const other = await db.transaction()
  await other.raw('SELECT 1 FROM flips WHERE processed_at IS NULL FOR UPDATE')
  return other
}

const digestsOf = (db: Knex) => query(db, 'SELECT size, sent_at IS NOT NULL AS sent FROM notification_bundles')
const messagesOf = (db: Knex) => query(db, 'SELECT what FROM notifications')

test('a wave larger than two pages becomes one digest', async (t) => {
  const { product, db, deps } = await openGroup({ due: 10, next: CHECKS, checks: CHECKS })
  await using _ = product
  while ((await processFlips(deps)) > 0);
  t.deepEqual(await digestsOf(db), [{ size: CHECKS, sent: true }])
  t.deepEqual(await messagesOf(db), [{ what: 'digest' }])
})

test('flips processed by a second run join the same digest', async (t) => {
  const { product, db, deps } = await openGroup({ due: 100, next: 10 })
  await using _ = product
  t.is(await processFlips(deps, 'changes'), 10)
  t.deepEqual(await messagesOf(db), [])
  while ((await processFlips(deps)) > 0);
  t.deepEqual(await digestsOf(db), [{ size: 110, sent: true }])
  t.deepEqual(await messagesOf(db), [{ what: 'digest' }])
})

test('a digest waits for flips that another alerter has locked', async (t) => {
  const { product, db, deps } = await openGroup({ due: 100, next: 30 })
  await using _ = product
  const other = await lockFlips(db)
  while ((await processFlips(deps)) > 0);
  const [gathered, sent] = [await digestsOf(db), await messagesOf(db)]
  await other.rollback()
  t.deepEqual([gathered, sent], [[{ size: 0, sent: false }], []])
  while ((await processFlips(deps)) > 0);
  t.deepEqual(await digestsOf(db), [{ size: 130, sent: true }])
})

test('a digest is sent after its time even if flips are still locked', async (t) => {
  const { product, db, deps } = await openGroup({ due: 100, next: 30 })
  await using _ = product
  const other = await lockFlips(db)
  while ((await processFlips(deps)) > 0);
  await execute(db, 'UPDATE notification_bundles SET send_at = now()')
  await processFlips(deps)
  t.deepEqual(await digestsOf(db), [{ size: 100, sent: true }])
  await other.rollback()
})

test('an early evaluation does not end the grouping delay', async (t) => {
  const { product, db, deps } = await openWave()
  await using _ = product
  await goDown(db, 100)
  await processFlips(deps)
  await execute(db, 'UPDATE incidents SET next_at = now()')
  while ((await processFlips(deps)) > 0);
  t.deepEqual(await messagesOf(db), [])
  t.deepEqual(await digestsOf(db), [])
  t.is((await db('incidents').where({ suppression: 'GROUPING' }).where('next_at', '>', db.fn.now())).length, 100)
})

test('claiming a page of due incidents reads only that page', async (t) => {
  const { product, db, project } = await openWave(CHECKS)
  await using _ = product
  await execute(
    db,
    `INSERT INTO incidents (id, project_id, check_id, state, is_direct, severity, down_at, next_at)
     SELECT gen_random_uuid(), ?, id, 'alerting', false, 'critical', now(), now() FROM checks`,
    [project.id],
  )
  await execute(db, 'ANALYZE incidents')
  await db.transaction(async (tx) => {
    const before = await rowsRead(tx)
    t.is((await inIndexOrder(tx, () => claimDueIncidents(tx, 500, 0))).length, 500)
    const read = (await rowsRead(tx)) - before
    t.true(read <= 3 * 500, `${read} rows were read`)
  })
})

async function rowsRead(tx: Knex): Promise<number> {
  const [read] = await query<{ rows: number }>(
    tx,
    `SELECT sum(seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables
     WHERE relname IN ('incidents', 'checks')`,
  )
  return read?.rows ?? 0
}
