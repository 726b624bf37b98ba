import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { Knex } from 'knex'
import { nowMicros } from '#shared/time.ts'
import { randomOf } from '../../support/random.ts'
import { aPing, openApplier, openChecks, openStream } from './open-applier.ts'

const HOUR = 3_600_000_000
const SECOND = 1_000_000
const SEED = 20_261_123
const SCENARIOS = 150
const RUNS = [null, randomUUID(), randomUUID()]
const EDITS = [
  { status: 'paused', alert_after: null },
  { grace_seconds: 77 },
  { kind: 'cron', schedule: '* * * * *' },
  { manual_resume: true },
]

test('cached checks give the same checks, logs and flips as checks that are read', async (t) => {
  const { db, ids } = await openChecks(t, 2 * SCENARIOS)
  for (let scenario = 0; scenario < SCENARIOS; scenario++) {
    const random = randomOf(SEED, scenario)
    const [known = 0, read = 0] = ids.slice(2 * scenario)
    const applier = openApplier(db)
    const [send, sendToRead] = [openStream(), openStream()]
    let at = nowMicros() - HOUR
    for (let acts = 3 + random.int(9); acts > 0; acts--) {
      if (random.oneIn(5)) {
        await db('checks').whereIn('id', [known, read]).update(random.pick(EDITS))
        continue
      }
      at += 10 * SECOND
      // Some pings arrive out of order.
      const receivedAt = at - random.pick([0, 0, 0, 0, 3, 40]) * SECOND
      const kind = random.pick(['success', 'success', 'start', 'fail', 'log'] as const)
      const ping = { kind, rid: random.pick(RUNS), receivedAt }
      const isTwice = random.oneIn(2)
      const pings = (id: number) => [aPing(id, ping), ...(isTwice ? [aPing(id, { ...ping, kind: 'log' })] : [])]
      await applier.apply(send(...pings(known)))
      await openApplier(db).apply(sendToRead(...pings(read)))
      const [one, two] = await db('checks').whereIn('id', [known, read]).orderBy('id')
      t.deepEqual(withoutNames(one), withoutNames(two), `scenario ${scenario}`)
    }
    t.deepEqual(await allOf(db, known), await allOf(db, read), `scenario ${scenario}`)
  }
})

/** The rows that pings write besides their check. */
async function allOf(db: Knex, id: number) {
  const tables = [
    await db('pings').where({ check_id: id }).orderBy('n'),
    await db('flips').where({ check_id: id }).orderBy('id'),
    await db('check_deadlines').where({ check_id: id }),
  ]
  return tables.map((rows) => rows.map(withoutNames))
}

/** Removes the values that differ for each check from a row. */
function withoutNames(row: object): object {
  const own = ['id', 'uuid', 'badge_key', 'created_at', 'check_id', 'processed_at']
  return Object.fromEntries(Object.entries(row).filter(([column]) => !own.includes(column)))
}
