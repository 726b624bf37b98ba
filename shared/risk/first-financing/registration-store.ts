import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Registration } from './receivable.ts'
import type { FinancingState } from './states.ts'

const COLUMNS = columns<Registration>()(`
  id, organisation_id, env, state, mode, deal_id, sealed_receivable, to_char(due_date, 'YYYY-MM-DD') AS dueDate,
  to_char(financed_on, 'YYYY-MM-DD') AS financedOn, renewals, contested, expires_at, first_seen_at, created_at, record`)

export async function insertRegistration(
  tx: Knex,
  registration: Omit<Registration, 'renewals' | 'contested'>,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO financing_registrations (id, organisation_id, env, state, mode, deal_id, sealed_receivable, due_date,
       financed_on, expires_at, first_seen_at, created_at, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      registration.id,
      registration.organisationId,
      registration.env,
      registration.state,
      registration.mode,
      registration.dealId,
      registration.sealedReceivable,
      registration.dueDate,
      registration.financedOn,
      registration.expiresAt,
      registration.firstSeenAt,
      registration.createdAt,
      registration.record,
    ],
  )
}

export async function findRegistration(db: Knex, owner: Owner, id: string): Promise<Registration | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM financing_registrations WHERE id = ? AND organisation_id = ? AND env = ?`,
    [id, owner.organisationId, owner.env],
  )
  return row
}

/** Of any organisation; locked for this transaction. */
export async function lockRegistration(tx: Knex.Transaction, id: string): Promise<Registration | undefined> {
  const [row] = await query(tx, typed`SELECT ${COLUMNS} FROM financing_registrations WHERE id = ? FOR UPDATE`, [id])
  return row
}

const MICROS_COLUMNS = columns<{ micros: number }>()('(extract(epoch FROM created_at) * 1000000)::bigint AS micros')

/**
 * Returns the newest registrations first.
 * @param before time (microseconds since 1970) and id of the last row of the previous page
 */
export async function listRegistrations(
  db: Knex,
  owner: Owner,
  before: { micros: number; id: string } | null,
  limit: number,
): Promise<(Registration & { micros: number })[]> {
  return await query(
    db,
    typed`SELECT ${COLUMNS}, ${MICROS_COLUMNS} FROM financing_registrations
     WHERE organisation_id = ? AND env = ?
       AND (?::bigint IS NULL OR (created_at, id) < ('epoch'::timestamptz + ? * interval '1 microsecond', ?::uuid))
     ORDER BY created_at DESC, id DESC LIMIT ?`,
    [owner.organisationId, owner.env, before?.micros ?? null, before?.micros ?? null, before?.id ?? null, limit],
  )
}

/** Counts open and requested ones, up to a limit. */
export async function countOpen(db: Knex, owner: Owner, limit: number): Promise<number> {
  const [row] = await query<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM financing_registrations
       WHERE organisation_id = ? AND env = ? AND state = 'REGISTERED' AND expires_at > now()
       UNION ALL
       SELECT 1 FROM evidence_jobs
       WHERE organisation_id = ? AND env = ? AND kind = 'financing.registration' AND state = 'QUEUED'
         AND requested_at > now() - interval '1 day'
       LIMIT ?) AS open`,
    [owner.organisationId, owner.env, owner.organisationId, owner.env, limit],
  )
  return row?.count ?? 0
}

export async function setState(
  tx: Knex.Transaction,
  id: string,
  change: {
    state: FinancingState
    expiresAt: Date
    renewals: number
    financedOn: string | null
    record: string
  },
): Promise<void> {
  await execute(
    tx,
    `WITH held AS (UPDATE financing_fingerprints SET state = ? WHERE record_id = ?)
     UPDATE financing_registrations SET state = ?, expires_at = ?, renewals = ?, financed_on = ?, record = ?,
       warned_at = NULL WHERE id = ?`,
    [change.state, id, change.state, change.expiresAt, change.renewals, change.financedOn, change.record, id],
  )
}

export async function setContested(tx: Knex.Transaction, id: string): Promise<void> {
  await execute(tx, 'UPDATE financing_registrations SET contested = true WHERE id = ?', [id])
}

/** Locks registrations in mode FIELDS that have no fingerprints of this epoch yet. */
export async function lockWithoutFingerprints(
  tx: Knex.Transaction,
  env: ApiEnv,
  epoch: number,
  { after, limit }: { after: string | null; limit: number },
): Promise<Registration[]> {
  return await query(
    tx,
    typed`SELECT ${COLUMNS} FROM financing_registrations r
     WHERE env = ? AND state IN ('REGISTERED', 'FINANCED') AND mode = 'FIELDS' AND expires_at > now()
       AND sealed_receivable IS NOT NULL AND (?::uuid IS NULL OR id > ?::uuid)
       AND NOT EXISTS (SELECT 1 FROM financing_fingerprints f
         WHERE f.record_id = r.id AND f.epoch = ? AND f.kind = 'RF1')
     ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED`,
    [env, after, after, epoch, limit],
  )
}

/** Locks expired registrations, earliest first. Skips rows that another transaction has locked. */
export async function lockExpiredRegistrations(tx: Knex.Transaction, limit: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `SELECT id FROM financing_registrations WHERE state IN ('REGISTERED', 'FINANCED') AND expires_at <= now()
     ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED`,
    [limit],
  )
  return rows.map(({ id }) => id)
}

const EXPIRING_COLUMNS = columns<Pick<Registration, 'id' | 'organisationId' | 'env' | 'dealId'>>()(`
  id, organisation_id, env, deal_id`)

/** Returns financed receivables that expire within two weeks, and marks them, so that each is returned once. */
export async function claimExpiring(
  tx: Knex.Transaction,
  limit: number,
): Promise<Pick<Registration, 'id' | 'organisationId' | 'env' | 'dealId'>[]> {
  return await query(
    tx,
    typed`UPDATE financing_registrations SET warned_at = now() WHERE id IN (
       SELECT id FROM financing_registrations
       WHERE state = 'FINANCED' AND warned_at IS NULL AND expires_at <= now() + interval '14 days'
       ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING ${EXPIRING_COLUMNS}`,
    [limit],
  )
}

/** Counts one check by another organisation for each of these registrations, per day in Indian time. */
export async function countSightings(tx: Knex, registrationIds: readonly string[]): Promise<void> {
  if (registrationIds.length === 0) return
  await execute(
    tx,
    `INSERT INTO financing_sightings AS s (registration_id, on_date, count)
     SELECT id, (now() AT TIME ZONE 'Asia/Kolkata')::date, count(*) FROM unnest(?::uuid[]) AS t(id)
     GROUP BY id ORDER BY id
     ON CONFLICT (registration_id, on_date) DO UPDATE SET count = s.count + excluded.count`,
    [[...registrationIds]],
  )
}

const SIGHTINGS_COLUMNS = columns<{ date: string; count: number }>()(`to_char(on_date, 'YYYY-MM-DD') AS date, count`)

/** Returns checks by other organisations in the last 30 days, newest day first. */
export async function listSightings(db: Knex, registrationId: string): Promise<{ date: string; count: number }[]> {
  return await query(
    db,
    typed`SELECT ${SIGHTINGS_COLUMNS} FROM financing_sightings
     WHERE registration_id = ? AND on_date > (now() AT TIME ZONE 'Asia/Kolkata')::date - 30 ORDER BY on_date DESC`,
    [registrationId],
  )
}

/** Replaces an open offer. */
export async function offerTransfer(tx: Knex, id: string, tokenDigest: Buffer, expiresAt: Date): Promise<void> {
  await execute(
    tx,
    `INSERT INTO financing_transfers (registration_id, token_digest, expires_at) VALUES (?, ?, ?)
     ON CONFLICT (registration_id) DO UPDATE SET token_digest = excluded.token_digest, expires_at = excluded.expires_at`,
    [id, tokenDigest, expiresAt],
  )
}

const OFFER_COLUMNS = columns<{ id: string; isSpent: boolean }>()(`
  t.registration_id AS id, t.spent_at IS NOT NULL AS isSpent`)

/** Locks the registration of a transfer token, used or not. @returns undefined for a wrong or expired token */
export async function takeOffer(
  tx: Knex.Transaction,
  env: ApiEnv,
  tokenDigests: readonly Buffer[],
): Promise<{ offered: Registration; isSpent: boolean } | undefined> {
  const [row] = await query(
    tx,
    typed`SELECT ${OFFER_COLUMNS} FROM financing_transfers t JOIN financing_registrations r ON r.id = t.registration_id
     WHERE t.token_digest = ANY(?) AND t.expires_at > now() AND r.env = ? FOR UPDATE OF t`,
    [[...tokenDigests], env],
  )
  const offered = row && (await lockRegistration(tx, row.id))
  return offered && { offered, isSpent: row.isSpent }
}

/** Stays until its expiry, so that its token is refused as spent. */
export async function spendOffer(tx: Knex, registrationId: string): Promise<void> {
  await execute(tx, 'UPDATE financing_transfers SET spent_at = now() WHERE registration_id = ?', [registrationId])
}

export async function isReceivableOf(
  tx: Knex,
  recordId: string,
  fingerprints: readonly { epoch: number; kind: string; value: string }[],
): Promise<boolean> {
  const rows = await query(
    tx,
    `SELECT 1 FROM financing_fingerprints f
     JOIN unnest(?::int[], ?::text[], ?::text[]) AS t(epoch, kind, value)
       ON f.epoch = t.epoch AND f.kind = t.kind AND f.fingerprint = decode(t.value, 'hex')
     WHERE f.record_id = ? AND f.kind IN ('RF1', 'RF2', 'RF3')
     GROUP BY f.epoch HAVING count(DISTINCT f.kind) = 3 LIMIT 1`,
    [
      fingerprints.map(({ epoch }) => epoch),
      fingerprints.map(({ kind }) => kind),
      fingerprints.map(({ value }) => value),
      recordId,
    ],
  )
  return rows.length === 1
}
