import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'

export async function savePingSecret(
  tx: Knex,
  checkId: number,
  { sealedSecret, overlapSeconds }: { sealedSecret: string; overlapSeconds: number },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO check_secrets (check_id, sealed_secret) VALUES (?, ?)
     ON CONFLICT (check_id) DO UPDATE SET sealed_previous = check_secrets.sealed_secret,
       previous_until = now() + make_interval(secs => ?::int), sealed_secret = excluded.sealed_secret`,
    [checkId, sealedSecret, overlapSeconds],
  )
}

const PING_SECRETS_COLUMNS = columns<{ id: number; sealed: string }>({ id: 'check_id', sealed: 'sealed_secret' })

export async function findPingSecrets(db: Knex, checkIds: readonly number[]): Promise<Map<number, string>> {
  const rows = await query(
    db,
    typed`SELECT ${PING_SECRETS_COLUMNS} FROM check_secrets WHERE check_id = ANY(?::bigint[])`,
    [checkIds],
  )
  return new Map(rows.map(({ id, sealed }) => [id, sealed]))
}

export async function deletePingSecret(tx: Knex, checkId: number): Promise<void> {
  await execute(tx, 'DELETE FROM check_secrets WHERE check_id = ?', [checkId])
}

const SECRET_REFUSALS_COLUMNS = columns<{ hour: Micros; count: number }>()(`
  ${microsOf("date_trunc('hour', minute)")} AS hour, sum(count)::bigint AS count`)

/** Per hour of the last days, newest first. */
export async function secretRefusals(db: Knex, checkId: number): Promise<{ hour: Micros; count: number }[]> {
  return await query(
    db,
    typed`SELECT ${SECRET_REFUSALS_COLUMNS} FROM refused_pings
     WHERE check_id = ? AND reason = 'secret' AND minute > now() - interval '2 days' GROUP BY 1 ORDER BY 1 DESC`,
    [checkId],
  )
}

/** Refused pings without a secret never extend a deadline, unlike other refused pings. */
export async function countSecretRefusals(db: Knex, counts: ReadonlyMap<number, number>): Promise<void> {
  const rows = [...counts].toSorted(([one], [other]) => one - other)
  await execute(
    db,
    `INSERT INTO refused_pings (check_id, reason, minute, count, last_at)
     SELECT c.id, 'secret', date_trunc('minute', now()), t.count, now()
     FROM unnest(?::bigint[], ?::bigint[]) AS t(check_id, count) JOIN checks c ON c.id = t.check_id ORDER BY c.id
     ON CONFLICT (check_id, reason, minute) DO UPDATE
       SET count = refused_pings.count + excluded.count, last_at = excluded.last_at`,
    [rows.map(([checkId]) => checkId), rows.map(([, count]) => count)],
  )
}
