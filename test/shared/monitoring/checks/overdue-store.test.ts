import test from 'ava'
import type { Knex } from 'knex'
import { DUE, FIX_PLAN, hasOverdue, sweepOverdue, TAKE_DOWN } from '#shared/monitoring/checks/overdue-store.ts'
import { nowMicros } from '#shared/time.ts'
import { openProduct } from '../../../support/product.ts'

const ALL = { answered: [0], total: 1 }
const sweep = (db: Knex, shards = ALL) => sweepOverdue(db, nowMicros(), shards)

/** Adds checks that are up, one for each deadline in minutes from now; null for no deadline. @returns their ids */
async function addUp(db: Knex, deadlines: readonly (number | null)[]): Promise<number[]> {
  const [organisation] = await db('organisations').insert({ name: 'o' }).returning('id')
  const [project] = await db('projects').insert({ organisation_id: organisation?.id, name: 'p' }).returning('id')
  const { rows } = await db.raw<{ rows: { id: number }[] }>(
    `INSERT INTO checks (project_id, status, alert_after)
     SELECT ?, 'up', now() + make_interval(secs => minutes * 60) FROM unnest(?::float[]) AS t(minutes) RETURNING id`,
    [project?.id, [...deadlines]],
  )
  return rows.map(({ id }) => id)
}

async function setDeadline(db: Knex, id: number, minutes: number | null): Promise<void> {
  await db.raw('UPDATE checks SET alert_after = now() + make_interval(secs => ?::float * 60) WHERE id = ?', [
    minutes,
    id,
  ])
}

/** Returns the next evaluation of each check in check_deadlines, in minutes from now. */
async function nextChecks(db: Knex): Promise<Map<number, number>> {
  const { rows } = await db.raw<{ rows: { id: number; minutes: number }[] }>(
    `SELECT check_id AS id, round(extract(epoch FROM next_check_at - now()) / 60)::int AS minutes FROM check_deadlines`,
  )
  return new Map(rows.map(({ id, minutes }) => [id, minutes]))
}

test('an overdue check goes down once, dated at its deadline, and loses its deadline row', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const [late, , pinged, none] = await addUp(db, [-3, 5, -2, null])
  t.true(await hasOverdue(db, nowMicros()))
  await setDeadline(db, pinged ?? 0, 7)
  t.deepEqual(
    [...(await nextChecks(db)).values()].sort(),
    [-2, -3, 5],
    'a ping with a later deadline does not change the row',
  )
  const first = await sweep(db)
  t.like(first, { evaluated: 2, down: [late] })
  t.is(first.messages.length, 1)
  const flips = await db('flips').select(
    'check_id',
    'reason',
    db.raw('round(extract(epoch FROM now() - at) / 60) AS ago'),
  )
  t.deepEqual(
    flips.map(({ check_id, reason, ago }) => [check_id, reason, Number(ago)]),
    [[late, 'timeout', 3]],
  )
  t.like(await db('checks').where({ id: late }).first(), { status: 'down', alert_after: null })
  t.deepEqual([...(await nextChecks(db)).values()].sort(), [5, 7])
  t.false((await nextChecks(db)).has(none ?? 0))
  t.like(await sweep(db), { evaluated: 0, messages: [], down: [] })
  t.false(await hasOverdue(db, nowMicros()))
})

test('checks of a shard that did not answer are not evaluated', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const ids = await addUp(db, [-1, -1, -1, -1])
  const { down } = await sweep(db, { answered: [1], total: 2 })
  t.deepEqual(
    down.toSorted((a, b) => a - b),
    ids.filter((id) => id % 2 === 1),
  )
  t.is((await nextChecks(db)).size, 2)
})

test('only a flip writes a row of checks, without an index update', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const [late, pinged] = await addUp(db, [-1, -1])
  await setDeadline(db, pinged ?? 0, 10)
  await db.raw('VACUUM checks')
  const versionOf = () => db('checks').where({ id: pinged }).first(db.raw('ctid::text, xmin::text, xmax::text'))
  const before = await versionOf()
  await db.transaction(async (tx) => {
    const updates = async () => {
      const { rows } = await tx.raw<{ rows: { updated: number; hot: number }[] }>(
        `SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS hot FROM pg_stat_xact_user_tables WHERE relname = 'checks'`,
      )
      return { updated: rows[0]?.updated ?? 0, hot: rows[0]?.hot ?? 0 }
    }
    const { updated, hot } = await updates()
    t.deepEqual((await sweep(tx)).down, [late])
    t.deepEqual(await updates(), { updated: updated + 1, hot: hot + 1 })
  })
  t.deepEqual(await versionOf(), before)
  t.is((await nextChecks(db)).get(pinged ?? 0), 10)
})

test('an evaluation without a flip reads the check at most once', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const [moved = 0, without = 0] = await addUp(db, [-1, -1])
  await setDeadline(db, moved, 10)
  await setDeadline(db, without, null)
  await db.transaction(async (tx) => {
    const reads = async () => {
      const { rows } = await tx.raw<{ rows: { reads: number }[] }>(
        `SELECT (seq_tup_read + idx_tup_fetch)::int AS reads FROM pg_stat_xact_user_tables WHERE relname = 'checks'`,
      )
      return rows[0]?.reads ?? 0
    }
    const before = await reads()
    t.like(await sweep(tx), { evaluated: 2, down: [] })
    t.is((await reads()) - before, 2)
  })
  t.deepEqual([...(await nextChecks(db))], [[moved, 10]])
})

test('the next sweep handles a check that a ping has locked', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const [locked, other] = await addUp(db, [-2, -1])
  await db.transaction(async (ping) => {
    await ping('checks').where({ id: locked }).forNoKeyUpdate().select('id')
    t.deepEqual((await sweep(db)).down, [other])
    t.like(await sweep(db), { evaluated: 0, down: [] }, 'locked rows do not count, so no other page follows')
  })
  t.deepEqual((await sweep(db)).down, [locked])
})

test('a deadline that moves closer during a sweep is not lost, in either order', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const [first = 0, second = 0] = await addUp(db, [-1, -1])
  for (const id of [first, second]) await setDeadline(db, id, 600)

  await db.transaction(async (ping) => {
    await setDeadline(ping, first, 3)
    const { evaluated } = await sweep(db)
    t.is(evaluated, 1, 'only the other check is evaluated; the ping has locked this row')
  })
  t.is((await nextChecks(db)).get(second), 600)
  await sweep(db)
  t.is((await nextChecks(db)).get(first), 3)

  await db.raw("UPDATE check_deadlines SET next_check_at = now() - interval '1 minute' WHERE check_id = ?", [second])
  const sweeping = await db.transaction()
  t.is((await sweep(sweeping)).evaluated, 1)
  const pinged = setDeadline(db, second, 4)
  await sweeping.commit()
  await pinged
  t.is((await nextChecks(db)).get(second), 4, 'the writer waited for the row, and then lowered it')
})

test('after any write, next_check_at is not later than the deadline of the check', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const ids = await addUp(
    db,
    Array.from({ length: 12 }, (_, n) => (n % 3 === 0 ? null : n - 5)),
  )
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let step = 0; step < 150; step++) {
    const id = ids[random(ids.length)] ?? 0
    const what = random(5)
    if (what === 0) await sweep(db)
    else if (what === 1) await db('checks').where({ id }).update({ alert_after: null, status: 'paused' })
    else if (what === 2) await db('checks').where({ id }).update({ status: 'down' })
    else
      await db.raw(`UPDATE checks SET status = 'up', alert_after = now() + ? * interval '1 second' WHERE id = ?`, [
        random(600) - 200,
        id,
      ])
    const { rows } = await db.raw(
      `SELECT id FROM checks LEFT JOIN check_deadlines ON check_id = id
       WHERE status <> 'down' AND alert_after IS NOT NULL AND (next_check_at IS NULL OR next_check_at > alert_after)`,
    )
    t.deepEqual(rows, [], `step ${step}`)
  }
})

test('the statements use indexes with any estimates of the planner', async (t) => {
  await using product = await openProduct()
  const { db } = product
  await addUp(
    db,
    Array.from({ length: 20_000 }, (_, n) => (n % 10 === 0 ? -1 : 60)),
  )
  await db.raw('ANALYZE checks, check_deadlines')
  const explain = async (sql: string, values: readonly (string | number | number[])[]) =>
    await db.transaction(async (tx) => {
      await tx.raw(FIX_PLAN)
      const { rows } = await tx.raw(`EXPLAIN ${sql}`, [...values])
      return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n')
    })
  const due = await explain(DUE, [nowMicros(), 1, [0], 5_000])
  t.regex(due, /Index Scan using check_deadlines_next_check_at_idx/)
  t.notRegex(due, /Sort|Seq Scan|Bitmap/)
  const down = await explain(TAKE_DOWN, ['{1,11,21}', nowMicros(), 'alerts.wake', '10 seconds'])
  t.regex(down, /Index Scan using checks_pkey/)
  t.regex(down, /Index Scan using check_deadlines_pkey/)
  t.notRegex(down, /Seq Scan|Bitmap|Hash Join|Merge Join/)
})

test('checks of one page do not affect each other', async (t) => {
  await using product = await openProduct()
  const { db } = product
  const [down = 0, moved = 0, paused = 0, locked = 0, already = 0] = await addUp(db, [-5, -4, -3, -2, -1])
  await setDeadline(db, moved, 6)
  await db('checks').where({ id: paused }).update({ alert_after: null, status: 'paused' })
  await db('checks').where({ id: already }).update({ status: 'down' })
  const ping = await db.transaction()
  await ping('checks').where({ id: locked }).forNoKeyUpdate()
  t.deepEqual((await sweep(db)).down, [down])
  t.deepEqual(
    [...(await nextChecks(db))].sort(([a], [b]) => a - b),
    [
      [moved, 6],
      [locked, -2],
    ],
    'a row follows its deadline, is deleted with it, and stays unchanged if a ping has locked the check',
  )
  await ping.commit()
  t.deepEqual((await sweep(db)).down, [locked])
  t.is((await db('flips')).length, 2)
})
