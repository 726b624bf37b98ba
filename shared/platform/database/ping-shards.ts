import type { Knex } from 'knex'
import { LAST_GENERATION, type PingGeneration } from '../../contracts/ping-generations.ts'
import { ConflictError } from '../../errors.ts'
import { transaction } from './db.ts'
import { microsOf } from './instants.ts'
import { columns, execute, query, typed } from './sql.ts'

const PING_GENERATION_COLUMNS = columns<PingGeneration>()(`
  generation, shards, ${microsOf('opens_at')} AS opensAt, drained_at IS NOT NULL AS isDrained`)

export async function liveGenerations(db: Knex): Promise<PingGeneration[]> {
  return await query(
    db,
    typed`SELECT ${PING_GENERATION_COLUMNS} FROM ping_generations WHERE retired_at IS NULL ORDER BY generation`,
    [],
  )
}

/** The first process of an installation creates the first generation, from its PING_SHARDS. */
export async function ensureGenerations(db: Knex, own: number): Promise<PingGeneration[]> {
  const known = await liveGenerations(db)
  if (known.length > 0) return known
  await execute(
    db,
    `INSERT INTO ping_generations (generation, shards, opens_at, set_by)
     VALUES (0, ?, now(), 'first start') ON CONFLICT DO NOTHING`,
    [own],
  )
  return await liveGenerations(db)
}

/** Delay before listeners use a new generation; a process that reaches the database has read its row by then. */
const STARTS_AFTER = '6 seconds'

/**
 * Adds a generation. Calls `declare` before the commit, so that the queues exist before a process reads the row.
 * @throws ConflictError without a first generation, while an earlier one is not drained, or after LAST_GENERATION
 */
export async function addGeneration(
  db: Knex,
  shards: number,
  setBy: string,
  declare: (made: { generation: number; shards: number }) => Promise<void>,
): Promise<void> {
  await transaction(db, async (tx) => {
    await execute(tx, 'LOCK TABLE ping_generations IN SHARE ROW EXCLUSIVE MODE', [])
    const live = await liveGenerations(tx)
    const newest = live.at(-1)
    if (!newest) throw new ConflictError(`there is no generation yet: start a process with PING_SHARDS=${shards}`)
    if (live.some((one) => one !== newest && !one.isDrained))
      throw new ConflictError(
        'the change before this one is still under way (admin shards show): try again in a minute',
      )
    const generation = newest.generation + 1
    if (generation > LAST_GENERATION)
      throw new ConflictError(`the number was changed ${LAST_GENERATION} times, the maximum`)
    await declare({ generation, shards })
    await execute(
      tx,
      `INSERT INTO ping_generations (generation, shards, opens_at, set_by)
       VALUES (?, ?, clock_timestamp() + interval '${STARTS_AFTER}', ?)`,
      [generation, shards, setBy],
    )
  })
}

/** Returns true if the queues from before a change are still not drained two minutes after it took effect. */
export async function isChangeLate(db: Knex): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT FROM ping_generations one JOIN ping_generations next ON next.generation = one.generation + 1
     WHERE one.drained_at IS NULL AND one.retired_at IS NULL AND next.opens_at < now() - interval '2 minutes'`,
    [],
  )
  return rows.length > 0
}

/**
 * Marks a generation as consumed to its end, so that the next one may be consumed. Only a process that has not read the
 * next row can still add pings to it.
 */
export async function markDrained(db: Knex, generation: number): Promise<void> {
  await execute(db, 'UPDATE ping_generations SET drained_at = now() WHERE generation = ? AND drained_at IS NULL', [
    generation,
  ])
}

/** A listener that has not read the generations for longer refuses pings. Equals the maximum age of cached checks. */
export const KNOWS_FOR_MS = 24 * 3_600_000
/** Delay after the start of the next generation. An hour more than KNOWS_FOR_MS: no listener publishes to it by then. */
const RETIRES_AFTER = '25 hours'

export async function findDeletableGenerations(db: Knex): Promise<PingGeneration[]> {
  const live = await liveGenerations(db)
  const rows = await query<{ generation: number }>(
    db,
    `SELECT generation FROM ping_generations one WHERE retired_at IS NULL AND drained_at IS NOT NULL AND EXISTS (
       SELECT FROM ping_generations next
       WHERE next.generation = one.generation + 1 AND next.opens_at < now() - interval '${RETIRES_AFTER}')`,
    [],
  )
  return live.filter(({ generation }) => rows.some((row) => row.generation === generation))
}

export async function retireGeneration(db: Knex, generation: number): Promise<void> {
  await execute(db, 'UPDATE ping_generations SET retired_at = now() WHERE generation = ?', [generation])
}

const RETIRED_GENERATIONS_COLUMNS = columns<Pick<PingGeneration, 'generation' | 'shards'>>()('generation, shards')

/** Lists generations that were retired 30 seconds to an hour ago: all processes have read it, so queues can be deleted. */
export async function retiredGenerations(db: Knex): Promise<Pick<PingGeneration, 'generation' | 'shards'>[]> {
  return await query(
    db,
    typed`SELECT ${RETIRED_GENERATIONS_COLUMNS} FROM ping_generations
     WHERE retired_at < now() - interval '30 seconds' AND retired_at > now() - interval '1 hour' ORDER BY generation`,
    [],
  )
}
