import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { Listener } from '../availability/unavailable.ts'
import type { StoredStatus } from '../checks/check.ts'
import type { PingType } from '../checks/state-machine.ts'
import type { RecordedPing } from '../pings/record-store.ts'
import type { PingTable } from '../pings/store.ts'

/** `gap`: the listener of the check was unavailable. */
export type LogKind = 'ping' | 'flip' | 'notification' | 'gap'

export interface LogCursor {
  at: Micros
  kind: LogKind
  id: string
}

/** Of an integration, or of the person if `c` is null. */
const RECIPIENT_NAME = `coalesce(c.name, nullif(u.name, ''), u.email)`

/** Members of other kinds are null. */
export interface LogEntry extends LogCursor {
  type: PingType | null
  scheme: string | null
  method: string | null
  remoteAddr: string | null
  ua: string | null
  rid: string | null
  exitStatus: number | null
  /** of a ping that was ignored, or whose body had no text to search */
  ignored: RecordedPing['ignored']
  hasBody: boolean | null
  /** null for mails and for requests without a body */
  head: Buffer | null
  /** of a mail whose body is stored; may be empty */
  subject: string | null
  fromStatus: StoredStatus | null
  toStatus: StoredStatus | null
  reason: string | null
  integrationName: string | null
  integrationKind: string | null
  integrationUuid: string | null
  state: 'pending' | 'delivered' | 'failed' | 'suppressed' | null
  error: string | null
  /** end of a gap; null while it is open */
  until: Micros | null
}

const LOG_ENTRY_COLUMNS = columns<LogEntry>()(`
  ${microsOf('at')} AS at, kind, id, type, scheme, method, "remoteAddr" AS remoteAddr, ua, rid,
  "exitStatus" AS exitStatus, ignored, "hasBody" AS hasBody, head, subject, "fromStatus" AS fromStatus,
  "toStatus" AS toStatus, reason, "integrationName" AS integrationName, "integrationKind" AS integrationKind,
  "integrationUuid" AS integrationUuid, state, error, ${microsOf('"until"')} AS until`)

/**
 * Newest first. Each source reads at most a page, so a page costs three index scans and one of the gaps.
 * `page.afterN` is the highest ping number that is no longer shown; `page.heardBy` is the check's listener and the
 * bit of its shard.
 */
export async function listCheckLog(
  db: Knex,
  checkId: number,
  page: {
    kinds: readonly LogKind[]
    before: LogCursor | null
    afterN: number
    limit: number
    heardBy: { listener: Listener; shard: bigint }
    /** of the pings only those of type `fail` */
    onlyFailures?: boolean
  },
): Promise<LogEntry[]> {
  const { before } = page
  const bound = before ? `WHERE (at, kind, id) < (${timestampOf('?::bigint')}, ?::text, ?::text)` : ''
  const boundValues = before ? [before.at, before.kind, before.id] : []
  const failures = page.onlyFailures ? "AND type = 'fail'" : ''
  const until = before ? `AND at <= ${timestampOf('?::bigint')}` : ''
  const untilNotified = before ? `AND n.created_at <= ${timestampOf('?::bigint')}` : ''
  const untilUnavailable = before ? `AND g.from_at <= ${timestampOf('?::bigint')}` : ''
  const untilValues = before ? [before.at] : []
  return await query(
    db,
    typed`SELECT ${LOG_ENTRY_COLUMNS} FROM (
       (SELECT at, 'ping' AS kind, lpad(n::text, 12, '0') AS id, type, scheme, method, remote_addr AS "remoteAddr", ua,
               rid, exit_status AS "exitStatus", ignored, coalesce(octet_length(body), 0) > 0 AS "hasBody",
               CASE WHEN scheme <> 'email' THEN substring(body FROM 1 FOR 400) END AS head, subject,
               NULL AS "fromStatus", NULL AS "toStatus", NULL AS reason, NULL AS "integrationName",
               NULL AS "integrationKind", NULL::uuid AS "integrationUuid", NULL AS state, NULL AS error, NULL::timestamptz AS "until"
        FROM pings WHERE check_id = ? AND n > ? AND ?::boolean ${failures} ${until} ORDER BY n DESC LIMIT ?)
       UNION ALL
       (SELECT at, 'flip', lpad(id::text, 12, '0'), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL::bytea, NULL,
               from_status, to_status, reason, NULL, NULL, NULL, NULL, NULL, NULL
        FROM flips WHERE check_id = ? AND ?::boolean ${until} ORDER BY id DESC LIMIT ?)
       UNION ALL
       (SELECT n.created_at, 'notification', n.id::text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL::bytea, NULL,
               NULL, n.check_status, NULL, ${RECIPIENT_NAME}, coalesce(c.kind, n.method_kind), c.uuid, n.state, n.error, NULL
        FROM notifications n LEFT JOIN integrations c ON c.id = n.integration_id LEFT JOIN users u ON u.id = n.user_id
        WHERE n.check_id = ? AND ?::boolean ${untilNotified} ORDER BY n.created_at DESC LIMIT ?)
       UNION ALL
       (SELECT g.from_at, 'gap', lpad(g.id::text, 12, '0'), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               NULL::bytea, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, g.until_at
        FROM coverage_gaps g JOIN checks c ON c.id = ?
        WHERE g.listener = ? AND g.kind <> 'detection' AND g.shards & ?::bigint <> 0 AND ?::boolean
          AND coalesce(g.until_at, 'infinity') > c.created_at ${untilUnavailable} ORDER BY g.from_at DESC, g.id DESC LIMIT ?)
     ) AS log ${bound} ORDER BY log.at DESC, kind DESC, id DESC LIMIT ?`,
    [
      checkId,
      page.afterN,
      page.kinds.includes('ping'),
      ...untilValues,
      page.limit + 1,
      checkId,
      page.kinds.includes('flip'),
      ...untilValues,
      page.limit + 1,
      checkId,
      page.kinds.includes('notification'),
      ...untilValues,
      page.limit + 1,
      checkId,
      page.heardBy.listener,
      String(BigInt.asIntN(64, page.heardBy.shard)),
      page.kinds.includes('gap'),
      ...untilValues,
      page.limit + 1,
      ...boundValues,
      page.limit,
    ],
  )
}

export interface PingDetails {
  n: number
  type: PingType
  at: Micros
  scheme: string
  method: string
  remoteAddr: string | null
  ua: string
  rid: string | null
  exitStatus: number | null
  ignored: RecordedPing['ignored']
  /** its first bytes; null when nothing was sent with it */
  body: Buffer | null
  bodyBytes: number
}

/** Pages show this beginning of a body; the rest can be downloaded. */
const SHOWN_BODY_BYTES = 256 * 1024

const PING_DETAILS_COLUMNS = columns<PingDetails>()(`
  n, type, ${microsOf('at')} AS at, scheme, method, remote_addr, ua, rid, exit_status, ignored,
  substring(body FROM 1 FOR ?::int) AS body, coalesce(octet_length(body), 0) AS bodyBytes`)

/** Returns a ping with the beginning of its body; null if it is not stored. */
export async function findPing(db: Knex, table: PingTable, checkId: number, n: number): Promise<PingDetails | null> {
  const rows = await query(db, typed`SELECT ${PING_DETAILS_COLUMNS} FROM ${table} WHERE check_id = ? AND n = ?`, [
    SHOWN_BODY_BYTES,
    checkId,
    n,
  ])
  return rows[0] ?? null
}

export interface NotifiedMessage {
  /** null for a person */
  integrationUuid: string | null
  integrationName: string
  integrationKind: string
  state: 'pending' | 'delivered' | 'failed' | 'suppressed'
  error: string
}

const NOTIFIED_MESSAGE_COLUMNS = columns<NotifiedMessage>({
  integrationUuid: 'c.uuid',
  integrationName: RECIPIENT_NAME,
  integrationKind: 'coalesce(c.kind, n.method_kind)',
  state: 'n.state',
  error: 'n.error',
})

/** Newest of each integration and person. */
export async function listNotifiedSince(db: Knex, checkId: number, since: Micros): Promise<NotifiedMessage[]> {
  return await query(
    db,
    typed`SELECT DISTINCT ON (c.id, u.id) ${NOTIFIED_MESSAGE_COLUMNS}
     FROM notifications n LEFT JOIN integrations c ON c.id = n.integration_id LEFT JOIN users u ON u.id = n.user_id
     WHERE n.check_id = ? AND n.check_status = 'down' AND n.what <> 'ack' AND n.created_at >= ${timestampOf('?::bigint')}
     ORDER BY c.id, u.id, n.created_at DESC LIMIT 20`,
    [checkId, since],
  )
}

const CHECK_FINGERPRINT_COLUMNS = columns<{ fingerprint: string; isDown: boolean }>({
  fingerprint: `concat_ws(' ', status, n_pings, last_start, alert_after,
                      (SELECT max(id) FROM flips WHERE check_id = checks.id),
                      (SELECT string_agg(state || attempts, ' ') FROM
                        (SELECT state, attempts FROM notifications n WHERE n.check_id = checks.id
                         ORDER BY created_at DESC LIMIT 20) AS newest))`,
  isDown: "status = 'down'",
})

/** Changes when the check's page may look different. */
export async function checkFingerprint(db: Knex, checkId: number): Promise<{ fingerprint: string; isDown: boolean }> {
  const rows = await query(db, typed`SELECT ${CHECK_FINGERPRINT_COLUMNS} FROM checks WHERE id = ?`, [checkId])
  return rows[0] ?? { fingerprint: '', isDown: false }
}

export async function findCreation(db: Knex, checkId: number): Promise<Micros> {
  const rows = await query<{ at: Micros }>(db, `SELECT ${microsOf('created_at')} AS at FROM checks WHERE id = ?`, [
    checkId,
  ])
  return rows[0]?.at ?? 0
}
