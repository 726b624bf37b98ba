import type { Knex } from 'knex'
import { gathered } from '../../platform/database/gathered.ts'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'

export type ListenerKind = 'http' | 'smtp'

export interface ListenerHeartbeat {
  /** identifies one start of a process */
  instance: string
  kind: ListenerKind
  from: Micros
  /** every ping that arrived earlier is answered */
  settledUntil: Micros
  /** age of `settledUntil` at the listener; limits the effect of a clock that is ahead */
  settledAge: Micros
  /** no ping is answered with success later than this after its arrival */
  settlesWithinMs: number
}

/** Timers of one moment fire together; a longer wait would make the heartbeats older. */
const GATHER_MS = 20

/**
 * Stores a heartbeat and what its listener has settled, together with those of the process's other listeners. A late
 * heartbeat does not revive a listener that has signed off.
 */
export const storeHeartbeat = gathered(GATHER_MS, async (db, heartbeats: readonly ListenerHeartbeat[]) => {
  await execute(db, STORE_HEARTBEATS, [
    heartbeats.map(({ instance }) => instance),
    heartbeats.map(({ from }) => from),
    heartbeats.map(({ kind }) => kind),
    heartbeats.map(({ settledUntil }) => settledUntil),
    heartbeats.map(({ settledAge }) => settledAge),
    heartbeats.map(({ settlesWithinMs }) => settlesWithinMs),
  ])
})

export async function signOff(db: Knex, instance: string): Promise<void> {
  await execute(
    db,
    "UPDATE listener_heartbeats SET until_at = clock_timestamp(), ended = 'clean' WHERE instance = ? AND ended IS NULL",
    [instance],
  )
}

/** No listener has an unanswered ping from before it; a later barrier waits for earlier pings (docs/adr/0005). */
export async function settledUntil(db: Knex): Promise<{ until: Micros; stalledMicros: Micros }> {
  const [row] = await query(db, SETTLED_UNTIL, [ARRIVAL_SLACK_MS, LEASE_MS])
  if (!row) throw new Error('the database returned no time')
  return { until: row.until, stalledMicros: row.limit_at - row.until }
}

/** Keeps the newest row of a kind, because the gap after it depends on it. */
export async function pruneHeartbeats(db: Knex, days: number): Promise<void> {
  await execute(
    db,
    `DELETE FROM listener_heartbeats WHERE until_at < least(now() - make_interval(days => ?::int),
                                              (SELECT max(until_at) FROM listener_heartbeats newest WHERE newest.kind = listener_heartbeats.kind))`,
    [days],
  )
}

const STORE_HEARTBEATS = `
  INSERT INTO listener_heartbeats (instance, from_at, kind, until_at, settled_until, settles_within)
  SELECT instance, ${timestampOf('from_at')}, kind, clock_timestamp(),
         least(${timestampOf('settled_until')}, clock_timestamp() - settled_age * interval '1 microsecond'),
         settles_within * interval '1 millisecond'
  FROM unnest(?::uuid[], ?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::int[])
    AS t(instance, from_at, kind, settled_until, settled_age, settles_within)
  ON CONFLICT (instance, from_at) DO UPDATE
    SET until_at = excluded.until_at, settled_until = excluded.settled_until, settles_within = excluded.settles_within
    WHERE listener_heartbeats.ended IS NULL`

const SETTLED_UNTIL_COLUMNS = columns<{ until: Micros; limit_at: Micros }>()(`
  ${microsOf('least(limit_at, (SELECT min(settled) FROM listeners))')} AS until, ${microsOf('limit_at')} AS limit_at`)

/**
 * Outside a transaction, `now()` is not later than the statement's snapshot, so an unseen listener started after it.
 * A listener without a current heartbeat counts as settled up to the time by which each of its pings must be
 * answered.
 */
const SETTLED_UNTIL = typed`
  WITH clock AS (SELECT now() AS at, now() - ?::int * interval '1 millisecond' AS limit_at),
  listeners AS (
    SELECT greatest(settled_until, limit_at - settles_within) AS settled FROM listener_heartbeats, clock
    WHERE ended IS NULL AND settled_until IS NOT NULL AND until_at > at - ?::int * interval '1 millisecond')
  SELECT ${SETTLED_UNTIL_COLUMNS} FROM clock`

/** Longer than most database outages, because a lapsed listener refuses pings that are confirmed slowly. */
const LEASE_MS = 120_000
/** Since the last stored heartbeat. Less than the lease, to leave time for the heartbeat to arrive. */
const LAPSES_AFTER_MS = 100_000
/** Time by which a deadline must have passed, for listeners that the sweep cannot see. */
const ARRIVAL_SLACK_MS = 1_000
/** Time in which an unseen listener must answer a ping; the rest of the slack allows for clock differences. */
const UNCOVERED_MS = 500

/** milliseconds on two clocks of this process */
export interface Arrival {
  monotonic: number
  wall: number
}

/** The sweep relies on refusals of pings that were queued too late (docs/adr/0005). */
export interface Cover {
  extend(sentAt: number, now: Arrival): void
  mayAnswer(arrival: Arrival, now: Arrival): boolean
  /** monotonic milliseconds of the newest stored heartbeat; null before the first */
  lastHeartbeat(): number | null
}

/** No ping is answered with success later than `settlesWithinMs`. */
export function createCover(settlesWithinMs: number): Cover {
  /** arrivals from this time on are covered; null if none are */
  let since: number | null = null
  let lastHeartbeat: number | null = null
  const isLapsed = (at: number) => lastHeartbeat === null || at - lastHeartbeat > LAPSES_AFTER_MS

  return {
    extend(sentAt, now) {
      if (isLapsed(now.monotonic)) since = null
      since ??= now.monotonic
      lastHeartbeat = sentAt
    },
    mayAnswer(arrival, now) {
      // The monotonic clock stops while a machine sleeps, and the wall clock may be set. The longer age counts.
      const age = Math.max(now.monotonic - arrival.monotonic, now.wall - arrival.wall)
      if (age <= UNCOVERED_MS) return true
      if (isLapsed(now.monotonic)) since = null
      return since !== null && arrival.monotonic >= since && age <= settlesWithinMs
    },
    lastHeartbeat: () => lastHeartbeat,
  }
}

export function arrivalNow(): Arrival {
  return { monotonic: performance.now(), wall: Date.now() }
}
