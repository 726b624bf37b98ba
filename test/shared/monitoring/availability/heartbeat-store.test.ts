import { randomUUID } from 'node:crypto'
import test from 'ava'
import knex, { type Knex } from 'knex'
import { settledUntil, signOff, storeHeartbeat } from '#shared/monitoring/availability/heartbeat-store.ts'
import { type Micros, microsOfSeconds, nowMicros } from '#shared/time.ts'
import { createDatabase } from '../../../support/services.ts'

const SECOND = microsOfSeconds(1)

async function openDatabase(): Promise<{ db: Knex } & AsyncDisposable> {
  const database = await createDatabase()
  const db = knex({ client: 'pg', connection: database.url })
  return {
    db,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await database.drop()
    },
  }
}

/** Adds a listener that has settled its pings up to `settledUntil`. @returns its id */
async function heartbeat(db: Knex, settledUntil: Micros, settlesWithinMs = 60_000): Promise<string> {
  const instance = randomUUID()
  const settledAge = Math.max(0, nowMicros() - settledUntil)
  const from = nowMicros()
  await storeHeartbeat(db, { instance, kind: 'http', from, settledUntil, settledAge, settlesWithinMs })
  return instance
}

/** Returns the seconds by which the sweep is behind the clock, plus the time of the test. */
async function behind(db: Knex): Promise<number> {
  const { until } = await settledUntil(db)
  return (nowMicros() - until) / SECOND
}

const isAbout = (seconds: number, expected: number) => seconds >= expected && seconds < expected + 9

test('a sweep covers only time that every listener has settled', async (t) => {
  await using database = await openDatabase()
  const { db } = database
  t.true(isAbout(await behind(db), 1), 'without any listener')
  await heartbeat(db, nowMicros())
  t.true(isAbout(await behind(db), 1))
  const slow = await heartbeat(db, nowMicros() - 30 * SECOND)
  await heartbeat(db, nowMicros() - 15 * SECOND)
  t.true(isAbout(await behind(db), 30), 'the sweep waits for the oldest unsettled ping')
  await signOff(db, slow)
  t.true(isAbout(await behind(db), 15), 'a stopped listener does not delay the sweep')
})

test('a silent listener delays the sweep until its pings have expired', async (t) => {
  await using database = await openDatabase()
  const { db } = database
  const instance = await heartbeat(db, nowMicros(), 30_000)
  const silentFor = (seconds: number) =>
    db('listener_heartbeats')
      .where({ instance })
      .update({
        until_at: db.raw('now() - make_interval(secs => ?)', [seconds]),
        settled_until: db.raw('now() - make_interval(secs => ?)', [seconds]),
      })
  await silentFor(15)
  t.true(isAbout(await behind(db), 15))
  await silentFor(60)
  t.true(isAbout(await behind(db), 31))
  await silentFor(105)
  t.true(isAbout(await behind(db), 31))
  await silentFor(121)
  t.true(isAbout(await behind(db), 1))
})

test('a late heartbeat is ignored, and one from the future counts as now', async (t) => {
  await using database = await openDatabase()
  const { db } = database
  const late = { instance: randomUUID(), kind: 'smtp' as const, from: nowMicros(), settlesWithinMs: 60_000 }
  const settled = { settledUntil: nowMicros() - 20 * SECOND, settledAge: 20 * SECOND }
  await storeHeartbeat(db, { ...late, ...settled })
  await signOff(db, late.instance)
  await storeHeartbeat(db, { ...late, ...settled })
  t.true(isAbout(await behind(db), 1))
  t.is((await db('listener_heartbeats').first('ended')).ended, 'clean')

  const ahead = { instance: randomUUID(), kind: 'http' as const, from: nowMicros(), settlesWithinMs: 60_000 }
  // The clock of this listener is an hour ahead, and its oldest ping is twenty seconds old.
  await storeHeartbeat(db, { ...ahead, settledUntil: nowMicros() + 3580 * SECOND, settledAge: 20 * SECOND })
  t.true(isAbout(await behind(db), 20))
})
