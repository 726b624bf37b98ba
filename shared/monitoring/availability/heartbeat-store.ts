import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'

/** The listeners that pings come through. */
export type ListenerKind = 'http' | 'smtp'

export interface ListenerHeartbeat {
  /** one start of a process */
  instance: string
  kind: ListenerKind
  /** when this start first beat, by the shared clock */
  from: Micros
  /** every ping with an earlier arrival is answered, whatever is still to come */
  settledUntil: Micros
  /** how long ago that is for the listener; bounds what a clock that is ahead may claim */
  settledAge: Micros
  /** no ping is answered with success later than this after its arrival */
  settlesWithinMs: number
}

/** Stores that a listener is there and what it has settled. One that signed off stays so, whatever comes late. */
export async function storeHeartbeat(db: Knex, heartbeat: ListenerHeartbeat): Promise<void> {
  const { instance, from, kind, settledUntil, settledAge, settlesWithinMs } = heartbeat
  await execute(db, STORE_HEARTBEAT, [instance, from, kind, settledUntil, settledAge, settlesWithinMs])
}

/** A listener that takes no more pings and has answered all signs off: nobody waits for it any longer. */
export async function signOff(db: Knex, instance: string): Promise<void> {
  await execute(
    db,
    "UPDATE listener_heartbeats SET until_at = clock_timestamp(), ended = 'clean' WHERE instance = ? AND ended IS NULL",
    [instance],
  )
}

/**
 * Returns the instant up to which no listener has an unanswered ping (docs/adr/0005). It does not inspect the queues: a
 * barrier sent afterwards waits for every ping that arrived before.
 */
export async function settledUntil(db: Knex): Promise<{ until: Micros; stalledMicros: Micros }> {
  const [row] = await query(db, SETTLED_UNTIL, [ARRIVAL_SLACK_MS, LEASE_MS])
  if (!row) throw new Error('the database did not tell its time')
  return { until: row.until, stalledMicros: row.limit_at - row.until }
}

/** Forgets processes that were last there so many days ago, but never the last of a kind: what came after it is a gap. */
export async function pruneHeartbeats(db: Knex, days: number): Promise<void> {
  await execute(
    db,
    `DELETE FROM listener_heartbeats WHERE until_at < least(now() - make_interval(days => ?::int),
                                              (SELECT max(until_at) FROM listener_heartbeats newest WHERE newest.kind = listener_heartbeats.kind))`,
    [days],
  )
}

const STORE_HEARTBEAT = `
  INSERT INTO listener_heartbeats (instance, from_at, kind, until_at, settled_until, settles_within)
  SELECT ?::uuid, ${timestampOf('?::bigint')}, ?, clock_timestamp(),
         least(${timestampOf('?::bigint')}, clock_timestamp() - ?::bigint * interval '1 microsecond'),
         ?::int * interval '1 millisecond'
  ON CONFLICT (instance, from_at) DO UPDATE
    SET until_at = excluded.until_at, settled_until = excluded.settled_until, settles_within = excluded.settles_within
    WHERE listener_heartbeats.ended IS NULL`

const SETTLED_UNTIL_COLUMNS = columns<{ until: Micros; limit_at: Micros }>({
  until: microsOf('least(limit_at, (SELECT min(settled) FROM listeners))'),
  limit_at: microsOf('limit_at'),
})

/**
 * Outside a transaction `now()` is no later than what the statement sees, so a listener it does not see has begun
 * after it. One that is silent counts as having settled what is too old to be answered.
 */
const SETTLED_UNTIL = typed`
  WITH clock AS (SELECT now() AS at, now() - ?::int * interval '1 millisecond' AS limit_at),
  listeners AS (
    SELECT greatest(settled_until, limit_at - settles_within) AS settled FROM listener_heartbeats, clock
    WHERE ended IS NULL AND settled_until IS NOT NULL AND until_at > at - ?::int * interval '1 millisecond')
  SELECT ${SETTLED_UNTIL_COLUMNS} FROM clock`

/**
 * How long a listener that does not beat counts for the sweep: then it is taken to be gone. Longer than most outages of
 * a database, because a listener whose beat lapses refuses pings that are confirmed slowly.
 */
const LEASE_MS = 120_000
/** Since the last beat that was stored: less than the lease, for all that a beat may take on its way. */
const LAPSES_AFTER_MS = 100_000
/** How far a deadline must lie back, for listeners that the sweep does not know of yet, or any more. */
const ARRIVAL_SLACK_MS = 1_000
/** What such a listener may take to answer: the rest of the slack is for clocks that differ. */
const UNCOVERED_MS = 500

/** When something arrived, on two clocks of this process; milliseconds. */
export interface Arrival {
  monotonic: number
  wall: number
}

/**
 * Decides whether a ping that the broker has may still be answered with success. The sweep relies on it for each
 * listener whose beat it cannot see (docs/adr/0005): what was in the queue too late must have been refused.
 */
export interface Cover {
  /** A beat was stored. @param sentAt when it was sent, monotonic milliseconds */
  extend(sentAt: number, now: Arrival): void
  mayAnswer(arrival: Arrival, now: Arrival): boolean
  /** monotonic milliseconds of the newest beat that was stored; null before the first */
  lastHeartbeat(): number | null
}

/** @param settlesWithinMs what the beats of this listener promise: no ping is answered with success later */
export function createCover(settlesWithinMs: number): Cover {
  /** arrivals from here on are known to be covered; null while none are */
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
      // The monotonic clock stands still while a machine sleeps, the other one may be set: the longer one counts.
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
