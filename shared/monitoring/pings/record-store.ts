import type { Knex } from 'knex'
import pg from 'pg'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { sparseColumn } from '../../platform/database/parameters.ts'
import type { Prepared, RunPrepared } from '../../platform/database/prepared.ts'
import { columns, execute, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { NoTextReason } from '../checks/keywords.ts'
import type { RecordedSignal } from '../checks/late-signal.ts'
import type { PingType } from '../checks/state-machine.ts'

/** Why a ping changed nothing, for example `paused`: the check must be resumed manually. */
export type IgnoredReason = 'paused' | 'method' | 'keywords' | 'secret' | 'preview' | 'source'

export interface RecordedPing {
  checkId: number
  n: number
  type: PingType
  at: Micros
  scheme: string
  remoteAddr: string | null
  method: string
  ua: string
  rid: string | null
  exitStatus: number | null
  /** why it changed nothing, or why the keyword filter found no text in its body; else null */
  ignored: IgnoredReason | NoTextReason | null
  body: Buffer | null
  /** id of the row of ping_bodies with its body; only for large mails */
  storedBody?: string
  /** only for mails: shown in lists */
  subject?: string
}

/** Position in the messages of one publisher to one shard, which are numbered from 1 and applied in order. */
export interface StreamPosition {
  stream: string
  shard: number
  /** number of the last applied message; 0 before the first */
  lastSeq: number
}

/** Identifies the writing transaction, because two servers can use the same transaction number. */
export interface Writer {
  xid: number
  /** start of the server process; differs between a promoted standby and the previous primary */
  server: Micros
}

export interface StreamMove extends Pick<StreamPosition, 'stream' | 'shard'> {
  first: number
  last: number
}

/**
 * Locks streams until the commit, and returns their positions. A second consumer waits here and then sees that the
 * messages are applied. Missing streams are added with position 0; `isNew` avoids the first lookup.
 */
export async function lockStreams(
  run: RunPrepared,
  streams: readonly (Pick<StreamPosition, 'stream' | 'shard'> & { isNew: boolean })[],
): Promise<(StreamPosition & Writer)[]> {
  const keys = keysOf(streams)
  const fresh = streams.filter(({ isNew }) => isNew)
  if (fresh.length > 0) run.later(ADD_STREAMS, keysOf(fresh))
  const known = await run(LOCK_STREAMS, keys)
  if (known.length === streams.length) return known
  run.later(ADD_STREAMS, keys)
  return await run(LOCK_STREAMS, keys)
}

function keysOf(streams: readonly Pick<StreamPosition, 'stream' | 'shard'>[]): [string[], number[]] {
  return [streams.map(({ stream }) => stream), streams.map(({ shard }) => shard)]
}

const WRITER_COLUMNS = columns<Writer>()(`
  pg_current_xact_id()::text::bigint AS xid, ${microsOf('pg_postmaster_start_time()')} AS server`)

const POSITION_COLUMNS = columns<StreamPosition>({ stream: 'stream', shard: 'shard', lastSeq: 'last_seq' })

const LOCK_STREAMS = {
  name: 'lock-streams',
  text: typed`
    SELECT ${POSITION_COLUMNS}, ${WRITER_COLUMNS} FROM ping_streams
    WHERE (stream, shard) IN (SELECT * FROM unnest($1::uuid[], $2::smallint[])) ORDER BY stream, shard FOR UPDATE`,
} satisfies Prepared

const ADD_STREAMS: Prepared = {
  name: 'add-streams',
  text: `
    INSERT INTO ping_streams (stream, shard, last_seq)
    SELECT stream, shard, 0 FROM unnest($1::uuid[], $2::smallint[]) AS t(stream, shard) ORDER BY stream, shard
    ON CONFLICT DO NOTHING`,
}

/** Sets positions; call `lockStreams` first. The statement is sent with the next one, at the latest with the commit. */
export function moveStreams(run: RunPrepared, positions: readonly StreamPosition[]): void {
  run.later(MOVE_STREAMS, [...keysOf(positions), positions.map(({ lastSeq }) => lastSeq)])
}

const MOVE_STREAMS: Prepared = {
  name: 'move-streams',
  text: `
    UPDATE ping_streams SET last_seq = t.last_seq, updated_at = now()
    FROM unnest($1::uuid[], $2::smallint[], $3::bigint[]) AS t(stream, shard, last_seq)
    WHERE ping_streams.stream = t.stream AND ping_streams.shard = t.shard`,
}

/**
 * Sets positions without a lock before. Returns null if one of the messages was already applied, or a stream is unknown:
 * then the transaction must roll back.
 */
export async function advanceStreams(run: RunPrepared, moves: readonly StreamMove[]): Promise<Writer | null> {
  const moved = await run(ADVANCE_STREAMS, [
    ...keysOf(moves),
    moves.map(({ first }) => first),
    moves.map(({ last }) => last),
  ])
  return (moved.length === moves.length && moved[0]) || null
}

const ADVANCE_STREAMS = {
  name: 'advance-streams',
  text: typed`
    UPDATE ping_streams SET last_seq = t.last, updated_at = now()
    FROM unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::bigint[]) AS t(stream, shard, first, last)
    WHERE ping_streams.stream = t.stream AND ping_streams.shard = t.shard AND ping_streams.last_seq < t.first
    RETURNING ${WRITER_COLUMNS}`,
} satisfies Prepared

/** Returns the time of the database, by which the arrival times of pings are corrected. */
export async function readDatabaseClock(run: RunPrepared): Promise<Micros> {
  const [row] = await run(DATABASE_CLOCK, [])
  if (!row) throw new Error('the database returned no time')
  return row.now
}

const DATABASE_CLOCK: Prepared<{ now: Micros }> = {
  name: 'database-clock',
  text: `SELECT ${microsOf('clock_timestamp()')} AS now`,
}

/**
 * Queues pings, which are written at the latest with the commit. The log is a ring buffer: a ping overwrites the oldest
 * one, so no clean-up is needed (docs/adr/0002). Pass at most the newest `logLimit` pings of each check. With
 * `expectFree`, pings with numbers up to `logLimit` are inserted into slots that must be free; if one is taken, the
 * transaction fails (`isSlotTaken`).
 */
export function recordPings(
  run: RunPrepared,
  pings: readonly RecordedPing[],
  { logLimit, expectFree = false }: { logLimit: number; expectFree?: boolean },
): void {
  const stored: RecordedPing[] = []
  const first: RecordedPing[] = []
  const others: RecordedPing[] = []
  const mails: RecordedPing[] = []
  for (const ping of pings) {
    if (ping.storedBody !== undefined) stored.push(ping)
    else if (ping.subject !== undefined) mails.push(ping)
    else if (expectFree && ping.n <= logLimit) first.push(ping)
    else others.push(ping)
  }
  if (first.length > 0) run.later(ADD_PINGS, carriedColumns(first, logLimit))
  if (others.length > 0) run.later(RECORD_PINGS, carriedColumns(others, logLimit))
  if (mails.length > 0)
    run.later(RECORD_MAILS, [...carriedColumns(mails, logLimit), mails.map(({ subject = null }) => subject)])
  // One statement each: copying a body may take a second, and statements have a time limit.
  for (const ping of stored)
    run.later(RECORD_STORED_BODY, [
      ...columnsOf([ping], logLimit),
      ping.storedBody ?? null,
      [ping.ignored],
      [ping.subject ?? null],
    ])
}

export function isSlotTaken(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION && error.constraint === 'pings_pkey'
}

const UNIQUE_VIOLATION = '23505'

function carriedColumns(pings: readonly RecordedPing[], logLimit: number): Parameters<RunPrepared>[1] {
  return [
    ...columnsOf(pings, logLimit),
    sparseColumn(pings.map((ping) => ping.body)),
    sparseColumn(pings.map((ping) => ping.ignored)),
  ]
}

/** Returns $1 to $11 of the statements below. */
function columnsOf(pings: readonly RecordedPing[], logLimit: number): (readonly (string | number | null)[] | null)[] {
  return [
    pings.map((ping) => ping.checkId),
    pings.map((ping) => ping.n % logLimit),
    pings.map((ping) => ping.n),
    pings.map((ping) => ping.type),
    pings.map((ping) => ping.at),
    pings.map((ping) => ping.scheme),
    sparseColumn(pings.map((ping) => ping.remoteAddr)),
    pings.map((ping) => ping.method),
    pings.map((ping) => ping.ua),
    sparseColumn(pings.map((ping) => ping.rid)),
    sparseColumn(pings.map((ping) => ping.exitStatus)),
  ]
}

const COLUMNS = 'check_id, slot, n, type, at, scheme, remote_addr, method, ua, rid, exit_status, body, ignored'

const UNNESTED = `
  unnest($1::bigint[], $2::int[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[],
         $10::uuid[], $11::smallint[]`

const OVERWRITE = `
  ON CONFLICT (check_id, slot) DO UPDATE SET n = excluded.n, type = excluded.type, at = excluded.at,
    scheme = excluded.scheme, remote_addr = excluded.remote_addr, method = excluded.method, ua = excluded.ua,
    rid = excluded.rid, exit_status = excluded.exit_status, body = excluded.body,
    ignored = excluded.ignored, subject = excluded.subject`

const SELECTED = `check_id, slot, n, type, ${timestampOf('at')}, scheme, remote_addr, method, ua, rid, exit_status`

const INSERT_PINGS = `
    INSERT INTO pings (${COLUMNS})
    SELECT ${SELECTED}, body, ignored FROM ${UNNESTED}, $12::bytea[], $13::text[]) AS t(${COLUMNS})`

const ADD_PINGS: Prepared = { name: 'add-pings', text: INSERT_PINGS }

const RECORD_PINGS: Prepared = { name: 'record-pings', text: `${INSERT_PINGS} ${OVERWRITE}` }

const RECORD_MAILS: Prepared = {
  name: 'record-mails',
  text: `
    INSERT INTO pings (${COLUMNS}, subject)
    SELECT ${SELECTED}, body, ignored, subject
    FROM ${UNNESTED}, $12::bytea[], $13::text[], $14::text[]) AS t(${COLUMNS}, subject) ${OVERWRITE}`,
}

/** The body is moved between the tables inside the database. If the row is missing, the ping has no body and no subject. */
const RECORD_STORED_BODY: Prepared = {
  name: 'record-stored-body',
  text: `
    WITH moved AS (DELETE FROM ping_bodies WHERE id = $12::uuid RETURNING body)
    INSERT INTO pings (${COLUMNS}, subject)
    SELECT ${SELECTED}, (SELECT body FROM moved), ignored, CASE WHEN EXISTS (SELECT FROM moved) THEN subject END
    FROM ${UNNESTED}, $13::text[], $14::text[])
      AS t(check_id, slot, n, type, at, scheme, remote_addr, method, ua, rid, exit_status, ignored, subject)
    ${OVERWRITE}`,
}

/** Returns the pings since the check was last paused or resumed, oldest first. */
export async function signalsSincePause(run: RunPrepared, checkId: number): Promise<RecordedSignal[]> {
  return await run(SIGNALS_SINCE_PAUSE, [checkId])
}

const SIGNAL_COLUMNS = columns<RecordedSignal>({ type: 'type', at: microsOf('at'), rid: 'rid' })

const SIGNALS_SINCE_PAUSE = {
  name: 'signals-since-pause',
  text: typed`
    SELECT ${SIGNAL_COLUMNS} FROM pings
    WHERE check_id = $1 AND ignored IS DISTINCT FROM 'source' AND at > coalesce(
      (SELECT max(at) FROM flips WHERE check_id = $1 AND (from_status = 'paused' OR to_status = 'paused')), '-infinity')
    ORDER BY n`,
} satisfies Prepared

/**
 * Deletes streams without a message for `days`. The broker keeps no message that long, so none can be applied twice.
 */
export async function pruneStreams(db: Knex, days: number): Promise<void> {
  await execute(db, 'DELETE FROM ping_streams WHERE updated_at < now() - make_interval(days => ?::int)', [days])
}
