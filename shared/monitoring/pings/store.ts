import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../checks/lock-store.ts'
import { query } from '../platform/sql.ts'
import type { LookBack, LookBackAnswer } from './durations.ts'
import type { RecordedPing } from './view.ts'

const AT = microsOf('pings.at')

/** The newest pings of a check, newest first. @param afterN the highest number that is no longer shown */
export async function listPings(db: Knex, checkId: number, afterN: number, limit: number): Promise<RecordedPing[]> {
  const rows = await query<RecordedPing>(
    db,
    `SELECT n, type, ${AT} AS at, scheme, remote_addr AS "remoteAddr", method, ua, rid,
            COALESCE(octet_length(body), 0) > 0 AS "hasBody"
     FROM pings WHERE check_id = ? AND n > ? ORDER BY n DESC LIMIT ?`,
    [checkId, afterN, limit],
  )
  return rows
}

/** Answers what the listed pings alone cannot: per finish the newest earlier ping of its run (durations.ts). */
export async function lookBack(db: Knex, checkId: number, questions: readonly LookBack[]): Promise<LookBackAnswer[]> {
  if (questions.length === 0) return []
  const rows = await query<{ n: number; type: RecordedPing['type'] | null; at: number | null }>(
    db,
    `SELECT asked.n, found.type, found.at
     FROM unnest(?::bigint[], ?::uuid[], ?::bigint[], ?::bigint[]) AS asked(n, rid, before_n, after)
     LEFT JOIN LATERAL (
       SELECT pings.type, ${AT} AS at FROM pings
       WHERE check_id = ? AND pings.n < asked.before_n AND rid IS NOT DISTINCT FROM asked.rid
         AND type IN ('success', 'fail', 'start')
         AND pings.at > ${timestampOf('asked.after')}
       ORDER BY pings.n DESC LIMIT 1
     ) AS found ON true`,
    [
      questions.map(({ n }) => n),
      questions.map(({ rid }) => rid),
      questions.map(({ beforeN }) => beforeN),
      questions.map(({ after }) => after),
      checkId,
    ],
  )
  return rows.map(({ n, type, at }) => ({ n, found: type === null || at === null ? null : { type, at } }))
}

/** The stored bytes of a ping's body; null when there is no such ping, or nothing was sent with it. */
export async function findPingBody(db: Knex, checkId: number, n: number): Promise<Buffer | null> {
  const rows = await query<{ body: Buffer }>(
    db,
    'SELECT body FROM pings WHERE check_id = ? AND n = ? AND octet_length(body) > 0',
    [checkId, n],
  )
  return rows[0]?.body ?? null
}
