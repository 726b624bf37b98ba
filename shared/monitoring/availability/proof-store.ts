import type { Knex } from 'knex'
import { gathered } from '../../platform/database/gathered.ts'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { type Micros, microsOfMillis } from '../../time.ts'
import { elapsed, type Moment, momentNow, type Span } from './attestation.ts'
import type { Refusals } from './refusals.ts'
import type { Proof } from './unavailable.ts'

/** One start of a process that stores coverage proofs. */
interface Prover {
  /** uuid */
  instance: string
  kind: Proof['kind']
}

/** Spans that a prover has not stored yet. */
interface Proven extends Prover {
  spans: readonly Span[]
}

/** A listener first connects to its own port. Ages are computed when the proofs are sent. */
const GATHER_MS = 200

/**
 * Stores coverage proofs, together with those of the process's other provers. Spans are sent as ages and dated by the
 * database's clock. A span that has grown remains one row.
 */
export const storeProofs = gathered(GATHER_MS, async (db, provers: readonly Proven[]) => {
  const rows = provers.flatMap(({ instance, kind, spans }) => spans.map((span) => ({ instance, kind, ...span })))
  if (rows.length === 0) return
  const now = momentNow()
  const age = (at: Moment) => Math.max(0, Math.round(microsOfMillis(elapsed(at, now))))
  await execute(
    db,
    `WITH clock AS (SELECT clock_timestamp() AS at)
     INSERT INTO listener_heartbeats (instance, kind, span, shards, from_at, until_at)
     SELECT instance, kind, span, shards, at - from_age * interval '1 microsecond', at - until_age * interval '1 microsecond'
     FROM clock, unnest(?::uuid[], ?::text[], ?::int[], ?::bigint[], ?::bigint[], ?::bigint[])
       AS t(instance, kind, span, shards, from_age, until_age)
     ON CONFLICT (instance, span) WHERE span IS NOT NULL DO UPDATE
       SET until_at = least(greatest(listener_heartbeats.until_at, excluded.until_at), clock_timestamp())
       WHERE listener_heartbeats.ended IS NULL`,
    [
      rows.map(({ instance }) => instance),
      rows.map(({ kind }) => kind),
      rows.map(({ number }) => number),
      rows.map(({ shards }) => String(BigInt.asIntN(64, shards))),
      rows.map(({ from }) => age(from)),
      rows.map(({ until }) => age(until)),
    ],
  )
})

/** The end of a clean stop is not a gap. */
export async function endProofs(db: Knex, instance: string): Promise<void> {
  await execute(
    db,
    `UPDATE listener_heartbeats SET ended = 'clean'
     WHERE instance = ? AND span = (SELECT max(span) FROM listener_heartbeats newest WHERE newest.instance = listener_heartbeats.instance)`,
    [instance],
  )
}

/** The row proves an empty span, so that the gap ends there and still follows from heartbeats alone. */
export async function closeListener(db: Knex, listener: 'http' | 'smtp'): Promise<void> {
  await execute(
    db,
    `INSERT INTO listener_heartbeats (instance, kind, span, shards, from_at, until_at, ended)
     SELECT gen_random_uuid(), ?, 1, 0, clock_timestamp(), clock_timestamp(), 'closed'`,
    [listener],
  )
}

/** Days of proofs that are evaluated; longer than a removed listener may be absent. */
const PROOF_DAYS = 2

interface ProofRow extends Omit<Proof, 'shards' | 'isClean' | 'isClosed'> {
  shards: string | null
  isClean: boolean
  isClosed: boolean
  now: Micros
  since: Micros
}

const PROOF_COLUMNS = columns<ProofRow>()(`
  kind, instance, ${microsOf('from_at')} AS from, ${microsOf('until_at')} AS until, shards::text AS shards,
  coalesce(ended IN ('clean', 'closed'), false) AS isClean, coalesce(ended = 'closed', false) AS isClosed,
  ${microsOf('clock.at')} AS now, ${microsOf('clock.since')} AS since`)

export async function readProofs(db: Knex): Promise<{ now: Micros; since: Micros; proofs: Proof[] }> {
  const rows = await query(
    db,
    typed`WITH clock AS (SELECT now() AS at, now() - make_interval(days => ?::int) AS since),
     recent AS (
       SELECT listener_heartbeats.* FROM listener_heartbeats, clock WHERE span IS NOT NULL AND until_at > since
       UNION ALL
       (SELECT DISTINCT ON (kind) listener_heartbeats.* FROM listener_heartbeats, clock WHERE span IS NOT NULL AND until_at <= since
        ORDER BY kind, until_at DESC))
     SELECT ${PROOF_COLUMNS} FROM clock LEFT JOIN recent ON true`,
    [PROOF_DAYS],
  )
  const [first] = rows
  if (!first) throw new Error('the database returned no time')
  return {
    now: first.now,
    since: first.since,
    proofs: rows.flatMap(({ kind, instance, from, until, shards, isClean, isClosed }) =>
      shards === null
        ? []
        : [{ kind, instance, from, until, isClean, isClosed, shards: BigInt.asUintN(64, BigInt(shards)) }],
    ),
  }
}

/** Skips deleted checks. `now` is in monotonic milliseconds. */
export async function storeRefusals(
  db: Knex,
  reason: string,
  refused: ReturnType<Refusals['waiting']>,
  now: number,
): Promise<void> {
  if (refused.length === 0) return
  await execute(
    db,
    `WITH clock AS (SELECT clock_timestamp() AS at),
     dated AS (SELECT check_id, count, at - age * interval '1 microsecond' AS last_at
               FROM clock, unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS t(check_id, count, age))
     INSERT INTO refused_pings (check_id, reason, minute, count, last_at)
     SELECT check_id, ?, date_trunc('minute', last_at), count, last_at
     FROM dated JOIN checks ON checks.id = check_id ORDER BY check_id
     ON CONFLICT (check_id, reason, minute) DO UPDATE
       SET count = refused_pings.count + excluded.count, last_at = greatest(refused_pings.last_at, excluded.last_at)`,
    [
      refused.map(({ checkId }) => checkId),
      refused.map(({ count }) => count),
      refused.map(({ lastAt }) => Math.max(0, Math.round(microsOfMillis(now - lastAt)))),
      reason,
    ],
  )
}
