import test from 'ava'
import type { Knex } from 'knex'
import { nowMicros } from '#shared/time.ts'
import type { Applier } from '../../../workers/ping-evaluator/applier.ts'
import { aPing, openApplier, openChecks, openStream } from './open-applier.ts'

const HOUR = 3_600_000_000
const SECOND = 1_000_000

/** Counts the runs of a statement. */
async function runsOf(db: Knex, statement: string): Promise<number> {
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    'SELECT coalesce(sum(generic_plans + custom_plans), 0)::int AS n FROM pg_prepared_statements WHERE name = ?',
    [statement],
  )
  return rows[0]?.n ?? 0
}

/** Counts the reads of checks with their locks. */
const reads = (db: Knex) => runsOf(db, 'lock-checks')

async function numbersOf(db: Knex, id: number): Promise<number[]> {
  return (await db('pings').where({ check_id: id }).orderBy('n').pluck('n')).map(Number)
}

async function stateOf(db: Knex, id: number) {
  return await db('checks').where({ id }).first('status', 'n_pings', 'alert_after', 'last_start')
}

test('checks that this process has stored are not read again for their next pings', async (t) => {
  const { db, ids, applier, send } = await openChecks(t, 3)
  const [one = 0, two = 0] = ids
  await applier.apply(send(aPing(two), aPing(one)))
  for (let round = 0; round < 4; round++) {
    t.like(await applier.apply(send(aPing(one), aPing(two), aPing(one, { kind: 'log' }))), { applied: 3, dropped: 0 })
  }
  t.is(await reads(db), 1)
  t.like(await stateOf(db, one), { status: 'up', n_pings: 9 })
  t.like(await stateOf(db, two), { status: 'up', n_pings: 5 })
  const log = await db('pings').where({ check_id: one }).orderBy('n').select('n', 'type')
  t.deepEqual(
    log.map(({ n, type }) => `${n} ${type}`),
    ['5 log', '6 success', '7 log', '8 success', '9 log'],
  )
  await applier.apply(send(...ids.map((id) => aPing(id))))
  t.is(await reads(db), 2, 'one unknown check causes a read of all checks')
})

test('a flip of a check that was not read is stored with its outbox message', async (t) => {
  const { db, ids, applier, send } = await openChecks(t, 1)
  const [id = 0] = ids
  await applier.apply(send(aPing(id)))
  const applied = await applier.apply(send(aPing(id, { kind: 'fail' })))
  t.like(applied, { flips: ['down'], changed: [id] })
  t.is(applied.outbox.length, 1)
  t.is(await reads(db), 1)
  t.deepEqual(await db('flips').orderBy('id').pluck('to_status'), ['up', 'down'])
})

const CHANGES: Record<string, { change: object; expected: object }> = {
  'was paused': { change: { status: 'paused', alert_after: null }, expected: { status: 'up', n_pings: 2 } },
  'was paused until it is resumed by hand': {
    change: { status: 'paused', alert_after: null, manual_resume: true },
    expected: { status: 'paused', n_pings: 2 },
  },
  'accepts only POST since': { change: { status: 'down', methods: 'POST' }, expected: { status: 'down', n_pings: 2 } },
}

for (const [what, { change, expected }] of Object.entries(CHANGES)) {
  test(`the evaluator sees changes by others: a check ${what}`, async (t) => {
    const { db, ids, applier, send } = await openChecks(t, 2)
    const [id = 0, other = 0] = ids
    await applier.apply(send(aPing(id), aPing(other)))
    await db('checks').where({ id }).update(change)
    t.like(await applier.apply(send(aPing(other), aPing(id))), { applied: 2 })
    t.like(await stateOf(db, id), expected)
    t.like(await stateOf(db, other), { status: 'up', n_pings: 2 }, 'the first attempt was rolled back')
    t.is(
      await db('pings')
        .where({ check_id: other })
        .then((rows) => rows.length),
      2,
    )
  })
}

test('the evaluator sees a changed schedule at the next deadline', async (t) => {
  const { db, ids, applier, send } = await openChecks(t, 1)
  const [id = 0] = ids
  await applier.apply(send(aPing(id)))
  await db('checks').where({ id }).update({ timeout_seconds: 60, grace_seconds: 60 })
  const receivedAt = nowMicros()
  await applier.apply(send(aPing(id, { receivedAt })))
  const state = await stateOf(db, id)
  t.is(state.alert_after.getTime(), Math.floor((receivedAt + 120 * SECOND) / 1000))
})

test('pings of a deleted check are dropped, those of others are stored', async (t) => {
  const { db, ids, applier, send } = await openChecks(t, 2)
  const [gone = 0, id = 0] = ids
  await applier.apply(send(aPing(gone), aPing(id)))
  await db('checks').where({ id: gone }).delete()
  t.like(await applier.apply(send(aPing(gone), aPing(id))), { applied: 1, dropped: 1 })
  t.like(await stateOf(db, id), { n_pings: 2 })
})

test('an applied ping is not applied again, by any evaluator', async (t) => {
  const { db, ids } = await openChecks(t, 1)
  const [id = 0] = ids
  const [applier, another] = [openApplier(db), openApplier(db)]
  const send = openStream()
  const [first, second, third] = [send(aPing(id)), send(aPing(id)), send(aPing(id))]
  await applier.apply(first)
  t.like(await applier.apply(first), { applied: 0 })
  await applier.apply(second)
  await another.apply(third)
  t.like(await applier.apply(third), { applied: 0 })
  t.like(await applier.apply([...second, ...third]), { applied: 0 })
  t.like(await stateOf(db, id), { n_pings: 3 })
  const fourth = send(aPing(id))
  t.like(await applier.apply([...third, ...fourth, ...fourth]), { applied: 1 })
  t.like(await stateOf(db, id), { n_pings: 4 })
})

test('a stream that was deleted from the database continues', async (t) => {
  const { db, ids, applier, send } = await openChecks(t, 1)
  const [id = 0] = ids
  await applier.apply(send(aPing(id)))
  await db('ping_streams').delete()
  t.like(await applier.apply(send(aPing(id))), { applied: 1 })
  t.like(await openStreamsTwice(applier, id), [{ applied: 1 }, { applied: 1 }])
  t.like(await stateOf(db, id), { n_pings: 4 })
})

async function openStreamsTwice(applier: Applier, id: number) {
  const send = openStream()
  return [await applier.apply(send(aPing(id))), await applier.apply(send(aPing(id)))]
}

test('a ping is inserted without a read unless it overwrites an older one', async (t) => {
  const { db, ids, applier, send } = await openChecks(t, 1)
  const [id = 0] = ids
  for (let n = 1; n <= 8; n++) await applier.apply(send(aPing(id)))
  t.is(await runsOf(db, 'add-pings'), 4, 'the second to the fifth')
  t.is(await runsOf(db, 'record-pings'), 4, 'the first, because the check was unknown, and those after the fifth')
  t.is(await reads(db), 1)
})

test('after its limit was raised, a log overwrites pings that occupy the new slots', async (t) => {
  const { db, ids, applier, send } = await openChecks(t, 2)
  const [id = 0, other = 0] = ids
  for (let n = 1; n <= 6; n++) await applier.apply(send(aPing(id)))
  t.deepEqual(await numbersOf(db, id), [2, 3, 4, 5, 6], 'of five slots, 5 and 6 use the first two')
  const larger = openApplier(db, undefined, 8)
  for (let n = 7; n <= 9; n++) t.like(await larger.apply(send(aPing(id), aPing(other))), { applied: 2 })
  t.deepEqual(await numbersOf(db, id), [2, 3, 4, 7, 8, 9], '8 and 9 use the same two')
  t.deepEqual(await numbersOf(db, other), [1, 2, 3])
  t.like(await stateOf(db, id), { n_pings: 9 })
})

test('a rolled-back batch is not stored or cached', async (t) => {
  const { db, ids } = await openChecks(t, 1)
  const [id = 0] = ids
  let isBroken = false
  const applier = openApplier(db, () => {
    if (isBroken) throw new Error('broken')
  })
  const send = openStream()
  await applier.apply(send(aPing(id)))
  const batch = send(aPing(id, { kind: 'fail' }))
  isBroken = true
  for (let tries = 0; tries < 2; tries++) await t.throwsAsync(applier.apply(batch), { message: 'broken' })
  t.like(await stateOf(db, id), { status: 'up', n_pings: 1 })
  isBroken = false
  await applier.apply(batch)
  t.like(await stateOf(db, id), { status: 'down', n_pings: 2 })
})

test('a ping from the future gets the current time, also if its check is cached', async (t) => {
  const { db, ids, applier, send } = await openChecks(t, 1)
  const [id = 0] = ids
  await applier.apply(send(aPing(id)))
  t.like(await applier.apply(send(aPing(id, { receivedAt: nowMicros() + HOUR }))), { applied: 1, restamped: 1 })
  const { rows } = await db.raw('SELECT max(last_ping) <= clock_timestamp() AS "isPast" FROM checks')
  t.deepEqual(rows, [{ isPast: true }])
})

test('checks that others change frequently are read first', async (t) => {
  const { db, ids, applier, send } = await openChecks(t, 1)
  const [id = 0] = ids
  await applier.apply(send(aPing(id)))
  const before = await rollbacksOf(db)
  const ROUNDS = 40
  for (let round = 0; round < ROUNDS; round++) {
    await db('checks')
      .where({ id })
      .update({ name: `${round}` })
    t.like(await applier.apply(send(aPing(id))), { applied: 1 })
  }
  // Failed attempts are 1, 2, 4, 8 ... transactions apart.
  t.true((await rollbacksOf(db)) - before <= 6)
  t.is(await reads(db), ROUNDS + 1)
})

async function rollbacksOf(db: Knex): Promise<number> {
  await db.raw('SELECT pg_stat_force_next_flush()')
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    'SELECT xact_rollback::int AS n FROM pg_stat_database WHERE datname = current_database()',
  )
  return rows[0]?.n ?? 0
}
