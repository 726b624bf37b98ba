import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import { type Micros, toIsoMicros } from '../../time.ts'
import type { PingType } from '../checks/state-machine.ts'
import type { LookBack, LookBackAnswer } from './durations.ts'

const AT = microsOf('pings.at')

export const RECORDED_PING_COLUMNS = columns<RecordedPing>()(`
  n, type, ${AT} AS at, scheme, remote_addr, method, ua, rid, COALESCE(octet_length(body), 0) > 0 AS hasBody`)

/** Newest first. `afterN` is the highest number that is no longer shown. */
export async function listPings(db: Knex, checkId: number, afterN: number, limit: number): Promise<RecordedPing[]> {
  const rows = await query(
    db,
    typed`SELECT ${RECORDED_PING_COLUMNS} FROM pings WHERE check_id = ? AND n > ? ORDER BY n DESC LIMIT ?`,
    [checkId, afterN, limit],
  )
  return rows
}

type LookBackRow = { requested: number } & ({ n: null } | NonNullable<LookBackAnswer['found']>)

const LOOK_BACK_COLUMNS = columns<LookBackRow>()('requested.n AS requested, found.n, found.type, found.at')

/** Returns per finish the newest earlier ping of its run (durations.ts). */
export async function lookBack(db: Knex, checkId: number, lookups: readonly LookBack[]): Promise<LookBackAnswer[]> {
  if (lookups.length === 0) return []
  const rows: LookBackRow[] = await query(
    db,
    typed`SELECT ${LOOK_BACK_COLUMNS}
     FROM unnest(?::bigint[], ?::uuid[], ?::bigint[], ?::bigint[]) AS requested(n, rid, before_n, after)
     LEFT JOIN LATERAL (
       SELECT pings.n, pings.type, ${AT} AS at FROM pings
       WHERE check_id = ? AND pings.n < requested.before_n AND rid IS NOT DISTINCT FROM requested.rid
         AND type IN ('success', 'fail', 'start')
         AND pings.at > ${timestampOf('requested.after')}
       ORDER BY pings.n DESC LIMIT 1
     ) AS found ON true`,
    [
      lookups.map(({ n }) => n),
      lookups.map(({ rid }) => rid),
      lookups.map(({ beforeN }) => beforeN),
      lookups.map(({ after }) => after),
      checkId,
    ],
  )
  return rows.map(({ requested, ...found }) => ({ n: requested, found: found.n === null ? null : found }))
}

/** The log of a check, or its kept failures (kept-failure-store.ts). */
export type PingTable = 'pings' | 'kept_failures'

/** Bytes of a ping's body per read. */
const SLICE_BYTES = 512 * 1024

/** Returns the size of a ping's body in bytes; 0 if there is no such ping or it has no body. */
export async function findBodyLength(db: Knex, table: PingTable, checkId: number, n: number): Promise<number> {
  const rows = await query<{ length: number }>(
    db,
    `SELECT octet_length(body) AS length FROM ${table} WHERE check_id = ? AND n = ? AND body IS NOT NULL`,
    [checkId, n],
  )
  return rows[0]?.length ?? 0
}

/**
 * Yields the stored body of a ping in pieces, because a mail may be large and the driver decodes each piece at once.
 * @throws NotFoundError if the ping is deleted in the meantime
 */
export async function* readBody(
  db: Knex,
  { table, checkId, n, length }: { table: PingTable; checkId: number; n: number; length: number },
): AsyncGenerator<Buffer> {
  for (let from = 0; from < length; from += SLICE_BYTES) {
    const rows = await query<{ slice: Buffer }>(
      db,
      `SELECT substring(body FROM ?::int FOR ?::int) AS slice FROM ${table} WHERE check_id = ? AND n = ?`,
      [from + 1, SLICE_BYTES, checkId, n],
    )
    if (!rows[0]) throw new NotFoundError('the ping is not stored any more')
    yield rows[0].slice
  }
}

export interface RecordedPing {
  n: number
  type: PingType
  at: Micros
  scheme: string
  remoteAddr: string | null
  method: string
  ua: string
  /** lower-case uuid */
  rid: string | null
  hasBody: boolean
}

export interface PingViewOptions {
  base: string
  version: 1 | 2 | 3
  checkUuid: string
  /** by ping number, in microseconds (durations.ts) */
  durations: ReadonlyMap<number, Micros>
}

/** See docs/spec/monitoring.md#pings-list. `duration` is absent if unknown, and may be 0. */
export function toPingView(ping: RecordedPing, options: PingViewOptions) {
  const duration = options.durations.get(ping.n)
  return {
    type: ping.type,
    date: toIsoMicros(ping.at),
    n: ping.n,
    scheme: ping.scheme,
    remote_addr: ping.remoteAddr,
    method: ping.method,
    ua: ping.ua,
    rid: ping.rid,
    body_url: ping.hasBody
      ? `${options.base}/api/v${options.version}/checks/${options.checkUuid}/pings/${ping.n}/body`
      : null,
    ...(duration !== undefined && { duration: toHundredths(duration) }),
  }
}

/** In seconds. */
function toHundredths(duration: Micros): number {
  return Math.round(duration / 10_000) / 100
}
