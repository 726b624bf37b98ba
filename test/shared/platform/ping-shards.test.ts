import test from 'ava'
import knex from 'knex'
import { shardsInUse } from '#shared/platform/database/ping-shards.ts'
import { up } from '../../../migrations/20261122080000_keep_number_of_ping_queues.ts'
import { createDatabase } from '../../support/services.ts'

test('an installation whose pings went through several queues keeps their number when it is updated', async (t) => {
  await using database = await createDatabase()
  const db = knex({ client: 'pg', connection: database.url })
  try {
    await up(db)
    t.is(await shardsInUse(db), null, 'a new one takes what its first process is set to')

    const streams = (...shards: number[]) =>
      db.raw('INSERT INTO ping_streams (stream, shard, last_seq) SELECT gen_random_uuid(), unnest(?::int[]), 1', [
        shards,
      ])
    await streams(0)
    await up(db)
    t.is(await shardsInUse(db), null, 'one queue is the default')

    await streams(1)
    await up(db)
    t.like(await shardsInUse(db), { shards: 4, most: 4 }, 'the default it ran with')

    await streams(6)
    await up(db)
    t.like(await shardsInUse(db), { shards: 4 }, 'a number that is known stays')
  } finally {
    await db.destroy()
  }
})
