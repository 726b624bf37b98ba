import type { Knex } from 'knex'
import { timestampOf } from '../../platform/database/instants.ts'
import { sparseColumn } from '../../platform/database/parameters.ts'
import type { Prepared, RunPrepared } from '../../platform/database/prepared.ts'
import { query, typed } from '../../platform/database/sql.ts'
import type { RecordedPing } from './record-store.ts'
import { type PingTable, RECORDED_PING_COLUMNS, type RecordedPing as ShownPing } from './store.ts'

/**
 * Stores pings of type `fail` a second time, so that they remain when the log of the check has dropped them
 * (docs/spec/monitoring.md#limits-and-retention). The newest `limit` of each check are a ring buffer. The caller's transaction has
 * recorded the pings; without a failure it stores nothing.
 */
export function keepFailures(
  run: RunPrepared,
  pings: readonly RecordedPing[],
  { limit, logLimit }: { limit: number; logLimit: number },
): void {
  const failures = pings.filter(({ type }) => type === 'fail')
  if (failures.length === 0 || limit === 0) return
  const kept = newestOf(failures, limit)
  const carried = kept.filter(({ storedBody }) => storedBody === undefined)
  if (carried.length > 0) run.later(KEEP_FAILURES, [...columnsOf(carried), limit])
  // The statement before has moved the body of a large mail to its ping.
  const stored = kept.filter(({ storedBody }) => storedBody !== undefined)
  for (const { checkId, n } of stored) run.later(KEEP_RECORDED, [checkId, n % logLimit, n, limit])
}

/** One statement must not store two pings in one slot. */
function newestOf(failures: readonly RecordedPing[], limit: number): readonly RecordedPing[] {
  if (failures.length <= limit) return failures
  return [...Map.groupBy(failures, ({ checkId }) => checkId).values()].flatMap((ofCheck) =>
    ofCheck.toSorted((a, b) => a.n - b.n).slice(-limit),
  )
}

function columnsOf(pings: readonly RecordedPing[]): Parameters<RunPrepared>[1] {
  return [
    pings.map((ping) => ping.checkId),
    pings.map((ping) => ping.n),
    pings.map((ping) => ping.at),
    pings.map((ping) => ping.scheme),
    sparseColumn(pings.map((ping) => ping.remoteAddr)),
    pings.map((ping) => ping.method),
    pings.map((ping) => ping.ua),
    sparseColumn(pings.map((ping) => ping.rid)),
    sparseColumn(pings.map((ping) => ping.exitStatus)),
    sparseColumn(pings.map((ping) => ping.body)),
    sparseColumn(pings.map((ping) => ping.ignored)),
    sparseColumn(pings.map((ping) => ping.subject ?? null)),
  ]
}

const VALUES = 'at, scheme, remote_addr, method, ua, rid, exit_status, body, ignored, subject'

const LAST = 'SELECT coalesce(max(seq), 0) AS last FROM kept_failures k WHERE k.check_id = t.check_id'

const OVERWRITE = `
  ON CONFLICT (check_id, slot) DO UPDATE SET seq = excluded.seq, n = excluded.n, at = excluded.at,
    scheme = excluded.scheme, remote_addr = excluded.remote_addr, method = excluded.method, ua = excluded.ua,
    rid = excluded.rid, exit_status = excluded.exit_status, body = excluded.body, ignored = excluded.ignored,
    subject = excluded.subject`

const KEEP_FAILURES: Prepared = {
  name: 'keep-failures',
  text: `
    INSERT INTO kept_failures (check_id, slot, seq, n, ${VALUES})
    SELECT t.check_id, (newest.last + t.place) % $13::bigint, newest.last + t.place, n,
           ${timestampOf('at')}, scheme, remote_addr, method, ua, rid, exit_status, body, ignored, subject
    FROM (SELECT *, row_number() OVER (PARTITION BY check_id ORDER BY n) AS place
          FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::uuid[],
                      $9::smallint[], $10::bytea[], $11::text[], $12::text[]) AS u(check_id, n, ${VALUES})) t,
      LATERAL (${LAST}) newest
    ${OVERWRITE}`,
}

const KEEP_RECORDED: Prepared = {
  name: 'keep-recorded-failure',
  text: `
    INSERT INTO kept_failures (check_id, slot, seq, n, ${VALUES})
    SELECT t.check_id, (newest.last + 1) % $4::bigint, newest.last + 1, n, ${VALUES}
    FROM pings t, LATERAL (${LAST}) newest
    WHERE t.check_id = $1::bigint AND t.slot = $2::int AND t.n = $3::bigint
    ${OVERWRITE}`,
}

/** Returns the newest kept failures of a check, newest first. Rows of a former, higher limit are left out. */
export async function listKeptFailures(db: Knex, checkId: number, limit: number): Promise<ShownPing[]> {
  return await query(
    db,
    typed`SELECT ${RECORDED_PING_COLUMNS} FROM kept_failures AS pings WHERE check_id = ? ORDER BY n DESC LIMIT ?`,
    [checkId, limit],
  )
}

/** Returns the table that has a ping; null if neither the log of the check nor its kept failures have it. */
export async function tableOf(
  { db, config }: { db: Knex; config: { pingLogLimit: number; keptFailures: number } },
  { id, nPings }: { id: number; nPings: number },
  n: number,
): Promise<PingTable | null> {
  if (n > nPings - config.pingLogLimit) return n <= nPings ? 'pings' : null
  const failures = await listKeptFailures(db, id, config.keptFailures)
  return failures.some((failure) => failure.n === n) ? 'kept_failures' : null
}
