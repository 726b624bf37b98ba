import test from 'ava'
import knex from 'knex'
import { LAST_GENERATION } from '#shared/contracts/ping-generations.ts'
import { ConflictError } from '#shared/errors.ts'
import { POLL_EVERY_MS } from '#shared/platform/database/installation.ts'
import {
  addGeneration,
  ensureGenerations,
  findDeletableGenerations,
  KNOWS_FOR_MS,
  liveGenerations,
} from '#shared/platform/database/ping-shards.ts'
import { eventually } from '../../support/eventually.ts'
import { createDatabase } from '../../support/services.ts'

/** Locks are those of the whole server, and tables of copies of one database have the same numbers. */
const OF_THIS_DATABASE = ' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())'

test('one of two concurrent changes succeeds, and none whose queues cannot be declared', async (t) => {
  await using database = await createDatabase()
  const db = knex({ client: 'pg', connection: database.url })
  try {
    await ensureGenerations(db, 1)
    const numbers = async () => (await liveGenerations(db)).map(({ shards }) => shards)
    const broken = addGeneration(db, 2, 'tester', async () => {
      throw new Error('no broker')
    })
    await t.throwsAsync(broken, { message: 'no broker' })
    t.deepEqual(await numbers(), [1])

    const declared = Promise.withResolvers<void>()
    const one = addGeneration(db, 2, 'tester', () => declared.promise)
    await eventually('the first to hold the table', async () => {
      const { rows } = await db.raw(
        "SELECT FROM pg_locks WHERE relation = 'ping_generations'::regclass AND granted AND mode LIKE 'Share%Exclusive%'" +
          OF_THIS_DATABASE,
      )
      return rows.length === 1
    })
    const alsoDeclared: number[] = []
    const other = addGeneration(db, 3, 'tester', async ({ shards }) => void alsoDeclared.push(shards))
    await eventually('the second to wait', async () => {
      const { rows } = await db.raw(
        `SELECT FROM pg_locks WHERE relation = 'ping_generations'::regclass AND NOT granted${OF_THIS_DATABASE}`,
      )
      return rows.length === 1
    })
    declared.resolve()
    await one
    await t.throwsAsync(other, { instanceOf: ConflictError, message: /still under way/ })
    t.deepEqual(alsoDeclared, [])
    t.deepEqual(await numbers(), [1, 2])

    await db('ping_generations').update({ drained_at: db.fn.now() })
    await db('ping_generations').where({ generation: 1 }).update({ generation: LAST_GENERATION })
    const beyond = addGeneration(db, 4, 'tester', async () => {})
    await t.throwsAsync(beyond, { instanceOf: ConflictError, message: /times, the maximum/ })
  } finally {
    await db.destroy()
  }
})

test('a generation opens when every process knows it, and ends when no process can send to it', async (t) => {
  await using database = await createDatabase()
  const db = knex({ client: 'pg', connection: database.url })
  try {
    await ensureGenerations(db, 1)
    await addGeneration(db, 2, 'tester', async () => {})
    const { rows } = await db.raw(
      'SELECT 1000 * extract(epoch FROM opens_at - made_at)::float AS ms FROM ping_generations WHERE generation = 1',
    )
    t.true(rows[0].ms >= 2 * POLL_EVERY_MS, `opens after ${rows[0].ms} ms`)

    const outlived = async (openForMs: number) => {
      const opened = db.raw("now() - ?::int * interval '1 second'", [openForMs / 1000])
      await db('ping_generations').where({ generation: 1 }).update({ opens_at: opened })
      return (await findDeletableGenerations(db)).map(({ generation }) => generation)
    }
    const HOUR_MS = 3_600_000
    t.deepEqual(await outlived(KNOWS_FOR_MS + 2 * HOUR_MS), [], 'it was not read to its end')
    await db('ping_generations').where({ generation: 0 }).update({ drained_at: db.fn.now() })
    t.deepEqual(await outlived(KNOWS_FOR_MS + HOUR_MS / 2), [], 'a listener that was cut off may have sent just now')
    t.deepEqual(await outlived(KNOWS_FOR_MS + 2 * HOUR_MS), [0])
  } finally {
    await db.destroy()
  }
})
