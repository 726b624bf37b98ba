import test from 'ava'
import type { Knex } from 'knex'
import { sweepOverdue } from '#shared/monitoring/checks/overdue-store.ts'
import { deleteCheck } from '#shared/monitoring/checks/store.ts'
import { deleteProject } from '#shared/monitoring/projects/changes-store.ts'
import { query } from '#shared/platform/database/sql.ts'
import { nowMicros } from '#shared/time.ts'
import { eventually } from '../../../support/eventually.ts'
import { type HttpProduct, openProduct } from '../../../support/product.ts'
import { addCheck, addProject, type TestProject } from '../../../support/projects.ts'
import { send } from '../../../support/send.ts'
import { sharedProduct } from '../../../support/shared-product.ts'

// Flips have no foreign key to their check (docs/adr/0004).
let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

/** Adds a check with a flip through the API. */
async function flippedCheck({ project, rwKey }: TestProject) {
  const check = await addCheck(app.deps, project.id)
  const paused = await send(app.url, `/api/v3/checks/${check.uuid}/pause`, {
    method: 'POST',
    headers: { 'X-Api-Key': rwKey },
  })
  if (paused.status !== 200) throw new Error(paused.text)
  return check
}

async function flipsOf(db: Knex, checkId: number): Promise<number> {
  return (await query(db, 'SELECT FROM flips WHERE check_id = ?', [checkId])).length
}

const removals: [string, (own: TestProject, check: { id: number; uuid: string }) => Promise<unknown>][] = [
  [
    'a check that its tenant deletes',
    (own, { uuid }) =>
      send(app.url, `/api/v3/checks/${uuid}`, { method: 'DELETE', headers: { 'X-Api-Key': own.rwKey } }),
  ],
  ['a check of a project that is deleted', (own) => app.deps.db.transaction((tx) => deleteProject(tx, own.project.id))],
  ['a check that is deleted by SQL', (_, { id }) => query(app.deps.db, 'DELETE FROM checks WHERE id = ?', [id])],
]
for (const [what, remove] of removals) {
  test(`${what} loses its flips, and other checks keep theirs`, async (t) => {
    const [tenant, other] = [await addProject(app.deps), await addProject(app.deps)]
    const [removed, stays] = [await flippedCheck(tenant), await flippedCheck(other)]
    t.is(await flipsOf(app.deps.db, removed.id), 1)
    await remove(tenant, removed)
    t.deepEqual(await query(app.deps.db, 'SELECT FROM checks WHERE id = ?', [removed.id]), [])
    t.is(await flipsOf(app.deps.db, removed.id), 0)
    t.is(await flipsOf(app.deps.db, stays.id), 1)
  })
}

test('deleting a check during a sweep leaves no flip in either order', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const project = await product.project()
  const late = async () => {
    const { rows } = await db.raw<{ rows: { id: number }[] }>(
      `INSERT INTO checks (project_id, status, alert_after) VALUES (?, 'up', now() - interval '1 minute') RETURNING id`,
      [project.id],
    )
    return rows[0]?.id ?? 0
  }
  const sweep = () => sweepOverdue(db, nowMicros(), { answered: [0], total: 1 })
  const waiting = (statement: string) =>
    eventually('a statement to wait for a lock', async () => {
      const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ?`
      return (await query(db, sql, [`%${statement}%`])).length === 1
    })

  const swept = await late()
  // The trigger blocks the sweep before it stores the flip.
  await db.raw(`
    CREATE FUNCTION block() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$;
    CREATE TRIGGER block BEFORE INSERT ON flips FOR EACH ROW EXECUTE FUNCTION block()`)
  const blocker = await db.transaction()
  await blocker.raw('SELECT pg_advisory_xact_lock(1)')
  const sweeping = sweep()
  await waiting('WITH requested AS')
  const deleting = db.transaction((tx) => deleteCheck(tx, swept))
  await waiting('DELETE FROM checks')
  await blocker.rollback()
  t.deepEqual((await sweeping).down, [swept])
  await deleting
  t.is(await flipsOf(db, swept), 0)

  const deleted = await late()
  await db.transaction(async (tx) => {
    await deleteCheck(tx, deleted)
    t.deepEqual((await sweep()).down, [])
  })
  t.deepEqual((await sweep()).down, [])
  t.deepEqual(await query(db, 'SELECT FROM flips'), [])
})
