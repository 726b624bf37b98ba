import type { Knex } from 'knex'
import type { RecordedSignal } from '../checks/late-signal.ts'
import { microsOf, timestampOf } from '../checks/lock-store.ts'
import type { PingType } from '../checks/state-machine.ts'
import { execute, query } from '../platform/sql.ts'
import type { Micros } from '../time.ts'

/** A ping with its number, as it is stored. */
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
  body: Buffer | null
}

/**
 * The position up to which a publishing channel's messages to a shard were applied, locked until the transaction
 * ends: a second consumer of the same messages waits here and then finds them applied.
 * @returns the last applied number per stream; 0 for a stream seen for the first time
 */
export async function lockStreams(tx: Knex, shard: number, streams: readonly string[]): Promise<Map<string, number>> {
  const positions = await readStreams(tx, shard, streams)
  if (positions.size === streams.length) return positions
  await execute(
    tx,
    `INSERT INTO ping_streams (stream, shard, last_seq)
     SELECT stream, ?, 0 FROM unnest(?::uuid[]) AS t(stream) ORDER BY stream ON CONFLICT DO NOTHING`,
    [shard, streams],
  )
  return await readStreams(tx, shard, streams)
}

async function readStreams(tx: Knex, shard: number, streams: readonly string[]): Promise<Map<string, number>> {
  const rows = await query<{ stream: string; lastSeq: number }>(
    tx,
    `SELECT stream, last_seq AS "lastSeq" FROM ping_streams
     WHERE shard = ? AND stream = ANY(?::uuid[]) ORDER BY stream FOR UPDATE`,
    [shard, streams],
  )
  return new Map(rows.map(({ stream, lastSeq }) => [stream, lastSeq]))
}

/** Moves the positions forward; the caller holds their locks. */
export async function advanceStreams(tx: Knex, shard: number, positions: ReadonlyMap<string, number>): Promise<void> {
  await execute(
    tx,
    `UPDATE ping_streams SET last_seq = t.last_seq, updated_at = now()
     FROM unnest(?::uuid[], ?::bigint[]) AS t(stream, last_seq)
     WHERE ping_streams.stream = t.stream AND ping_streams.shard = ?`,
    [[...positions.keys()], [...positions.values()], shard],
  )
}

/**
 * Stores pings and removes those that thereby fall out of the log: by primary key, the one that each new number
 * displaces (docs/adr/0002), so that no clean-up ever has to look for them.
 */
export async function recordPings(tx: Knex, pings: readonly RecordedPing[], logLimit: number): Promise<void> {
  if (pings.length === 0) return
  const displaced = pings.filter((ping) => ping.n > logLimit)
  await execute(tx, INSERT_PINGS, [
    pings.map((ping) => ping.checkId),
    pings.map((ping) => ping.n),
    pings.map((ping) => ping.type),
    pings.map((ping) => ping.at),
    pings.map((ping) => ping.scheme),
    pings.map((ping) => ping.remoteAddr),
    pings.map((ping) => ping.method),
    pings.map((ping) => ping.ua),
    pings.map((ping) => ping.rid),
    pings.map((ping) => ping.exitStatus),
    pings.map((ping) => ping.body),
  ])
  if (displaced.length === 0) return
  await execute(
    tx,
    `DELETE FROM pings USING unnest(?::bigint[], ?::bigint[]) AS t(check_id, n)
     WHERE pings.check_id = t.check_id AND pings.n = t.n`,
    [displaced.map((ping) => ping.checkId), displaced.map((ping) => ping.n - logLimit)],
  )
}

const INSERT_PINGS = `
  INSERT INTO pings (check_id, n, type, at, scheme, remote_addr, method, ua, rid, exit_status, body)
  SELECT check_id, n, type, ${timestampOf('at')}, scheme, remote_addr, method, ua, rid, exit_status, body
  FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::uuid[],
              ?::smallint[], ?::bytea[])
       AS t(check_id, n, type, at, scheme, remote_addr, method, ua, rid, exit_status, body)`

/** The signals of a check since its last pause or resume, oldest number first, as far back as they are kept. */
export async function signalsSincePause(tx: Knex, checkId: number): Promise<RecordedSignal[]> {
  const rows = await query<RecordedSignal>(
    tx,
    `SELECT type, ${microsOf('at')} AS at, rid FROM pings
     WHERE check_id = ? AND at > coalesce(
       (SELECT max(at) FROM flips WHERE check_id = ? AND (from_status = 'paused' OR to_status = 'paused')), '-infinity')
     ORDER BY n`,
    [checkId, checkId],
  )
  return rows
}
