import test from 'ava'
import type { Knex } from 'knex'
import { openDatabase } from '#shared/platform/database/db.ts'
import { type Prepared, preparedTransaction } from '#shared/platform/database/prepared.ts'
import { query } from '#shared/platform/database/sql.ts'
import { createDatabase } from '../../support/services.ts'

const ADD: Prepared = { name: 'test-add', text: 'INSERT INTO noted (n) VALUES ($1::int)' }
const ALL: Prepared = { name: 'test-all', text: 'SELECT n FROM noted ORDER BY n' }
const ONE: Prepared = { name: 'test-one', text: 'SELECT $1::int AS one, NULL::text AS nothing' }
const WRONG: Prepared = { name: 'test-wrong', text: 'SELECT n FROM nowhere' }

async function noted(t: { teardown(end: () => Promise<void>): void }): Promise<Knex> {
  const database = await createDatabase()
  const db = openDatabase({ url: database.url, name: 'test', poolSize: 1, timeoutMs: 10_000 })
  t.teardown(async () => {
    await db.destroy()
    await database.drop()
  })
  await db.raw('CREATE TABLE noted (n int PRIMARY KEY)')
  return db
}

const numbers = (db: Knex) => query<{ n: number }>(db, 'SELECT n FROM noted ORDER BY n')

test('statements of one event-loop iteration are sent together, in order', async (t) => {
  const db = await noted(t)
  for (const n of [1, 2]) {
    const rows: unknown = await preparedTransaction(db, async (run) => {
      run.later(ADD, [n])
      return await Promise.all([run(ALL, []), run(ONE, [n]), run(ALL, [])])
    })
    const all = Array.from({ length: n }, (_, index) => ({ n: index + 1 }))
    t.deepEqual(rows, [all, [{ one: n, nothing: null }], all])
  }
})

test('deferred statements are written with the commit or not at all', async (t) => {
  const db = await noted(t)
  await preparedTransaction(db, async (run) => run.later(ADD, [1]))
  t.deepEqual(await numbers(db), [{ n: 1 }])

  const twice = preparedTransaction(db, async (run) => {
    run.later(ADD, [2])
    run.later(ADD, [1])
    run.later(ADD, [3])
  })
  await t.throwsAsync(twice, { code: '23505' })
  t.deepEqual(await numbers(db), [{ n: 1 }], 'the commit that followed a failure committed nothing')

  await t.throwsAsync(
    preparedTransaction(db, async (run) => {
      run.later(ADD, [4])
      await run(ALL, [])
      throw new Error('changed its mind')
    }),
    { message: 'changed its mind' },
  )
  t.deepEqual(await numbers(db), [{ n: 1 }])
})

test('a connection remains usable after a failed statement, prepared or not', async (t) => {
  const db = await noted(t)
  for (let round = 1; round <= 3; round++) {
    const failed = preparedTransaction(db, (run) => Promise.all([run(ALL, []), run(WRONG, []), run(ONE, [1])]))
    await t.throwsAsync(failed, { code: '42P01' })
    const rows = await preparedTransaction(db, (run) => {
      run.later(ADD, [round])
      return run(ALL, [])
    })
    t.is(rows.length, round)
  }
  await db.raw('CREATE TABLE nowhere (n int)')
  t.deepEqual(await preparedTransaction(db, (run) => run(WRONG, [])), [])
})
