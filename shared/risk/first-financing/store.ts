import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { RegistryMatch } from '../packs/signals/double-financing.ts'
import type { DisclosedMatch } from './check-answer.ts'
import type { Fingerprint, FingerprintKind } from './fingerprint.ts'

export interface FirstRecord {
  env: ApiEnv
  organisationId: number
  recordId: string
  fingerprints: readonly Fingerprint[]
}

export interface Holding {
  state: 'REGISTERED' | 'FINANCED'
  /** of a receivable that a pack presented; a registration has its own expiry, and an order has none */
  expiresAt: Date | null
  /** first presentation, if that was in another record */
  firstSeenAt?: Date
}

/** An expired record does not match, even before the sweeper has processed it. */
const LIVE = `f.state IN ('REGISTERED', 'FINANCED') AND coalesce(r.expires_at, f.expires_at, 'infinity') > now()`

/**
 * Stored fingerprints of `t(epoch, kind, value)`, as `f`; `env` is SQL. LATERAL looks up each one separately: with
 * old statistics the planner may read all fingerprints of an environment for each row.
 */
const storedAs = (env: string) => `CROSS JOIN LATERAL (
       SELECT s.epoch, s.kind, s.state, s.organisation_id, s.record_id, s.first_seen_at, s.expires_at
       FROM financing_fingerprints s
       WHERE s.env = ${env} AND s.epoch = t.epoch AND s.kind = t.kind AND s.fingerprint = decode(t.value, 'hex')
       OFFSET 0) f`

const FINGERPRINT_COLUMNS = columns<Fingerprint>({ epoch: 'epoch', kind: 'kind', value: "encode(fingerprint, 'hex')" })

/**
 * The unique index rejects an exact fingerprint of another live record; a concurrent insert waits for the commit.
 * Returns the fingerprints that were stored now; empty if this record was stored before.
 */
export async function recordFingerprints(tx: Knex, record: FirstRecord, holding: Holding): Promise<Fingerprint[]> {
  return await query(
    tx,
    typed`INSERT INTO financing_fingerprints
       (env, epoch, kind, fingerprint, organisation_id, state, record_id, expires_at, first_seen_at)
     SELECT ?, epoch, kind, decode(value, 'hex'), ?, ?, ?, ?, coalesce(?::timestamptz, now())
     FROM unnest(?::int[], ?::text[], ?::text[]) AS t(epoch, kind, value) ORDER BY kind, value
     ON CONFLICT DO NOTHING RETURNING ${FINGERPRINT_COLUMNS}`,
    [
      record.env,
      record.organisationId,
      holding.state,
      record.recordId,
      holding.expiresAt,
      holding.firstSeenAt ?? null,
      ...columnsOf(record.fingerprints),
    ],
  )
}

/** Registers all live epochs, or none if another record has one of them. */
export async function registerExact(tx: Knex, record: FirstRecord, holding: Holding): Promise<boolean> {
  const exact = record.fingerprints.filter(({ kind }) => kind === 'RF1')
  const stored = await recordFingerprints(tx, { ...record, fingerprints: exact }, holding)
  if (stored.length === exact.length) return true
  await execute(
    tx,
    `DELETE FROM financing_fingerprints f USING unnest(?::int[], ?::text[], ?::text[]) AS t(epoch, kind, value)
     WHERE f.record_id = ? AND f.epoch = t.epoch AND f.kind = t.kind AND f.fingerprint = decode(t.value, 'hex')`,
    [...columnsOf(stored), record.recordId],
  )
  return false
}

function columnsOf(fingerprints: readonly Fingerprint[]): [number[], string[], string[]] {
  return [
    fingerprints.map(({ epoch }) => epoch),
    fingerprints.map(({ kind }) => kind),
    fingerprints.map(({ value }) => value),
  ]
}

/** Another record has registered the receivable. Returns false if this was stored before. */
export async function recordSighting(tx: Knex, record: FirstRecord): Promise<boolean> {
  const noted = await execute(
    tx,
    `INSERT INTO financing_fingerprints (env, epoch, kind, fingerprint, organisation_id, state, record_id)
     SELECT ?, epoch, kind, decode(value, 'hex'), ?, 'LAPSED', ?
     FROM unnest(?::int[], ?::text[], ?::text[]) AS t(epoch, kind, value)
     ON CONFLICT (record_id, kind, fingerprint) DO NOTHING`,
    [record.env, record.organisationId, record.recordId, ...columnsOf(record.fingerprints)],
  )
  return noted > 0
}

/** Records once while live. The lock serialises two organisations. */
export async function recordParties(
  tx: Knex.Transaction,
  { env, organisationId, recordId, order }: Omit<FirstRecord, 'fingerprints'> & { order: Fingerprint },
  expiresAt: Date,
): Promise<void> {
  const { epoch, kind, value } = order
  await execute(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 19))', [`${env}/${value}`])
  const known = await execute(
    tx,
    `UPDATE financing_fingerprints SET expires_at = ?
     WHERE env = ? AND epoch = ? AND kind = ? AND fingerprint = decode(?, 'hex') AND organisation_id = ?
       AND state = 'REGISTERED' AND expires_at > now()`,
    [expiresAt, env, epoch, kind, value, organisationId],
  )
  const record = { env, organisationId, recordId, fingerprints: [order] }
  if (known === 0) await recordFingerprints(tx, record, { state: 'REGISTERED', expiresAt })
}

export async function setRecordAnchor(tx: Knex, recordId: string, txId: Buffer): Promise<void> {
  await execute(tx, 'UPDATE financing_fingerprints SET tx_id = ? WHERE record_id = ?', [txId, recordId])
}

const CLASSES: Record<FingerprintKind, RegistryMatch['class']> = {
  RF1: 'EXACT',
  PO1: 'EXACT',
  RF2: 'NEAR',
  RF3: 'ECONOMIC',
  RF4: 'ECONOMIC',
  PO2: 'ECONOMIC',
}

export interface FoundMatch extends DisclosedMatch {
  index: number
  recordId: string
  isRegistration: boolean
}

/** A search that excludes the fingerprints of `recordId`. */
export interface MatchQuery {
  env: ApiEnv
  organisationId: number
  recordId: string
  fingerprints: readonly Fingerprint[]
}

const MATCHES_COLUMNS = columns<Omit<FoundMatch, 'class'> & { kind: FingerprintKind }>()(`
  t.index, f.kind, f.state, f.organisation_id = t.organisation_id AS ownRegistration,
  to_char(f.first_seen_at AT TIME ZONE 'Asia/Kolkata', 'YYYY-MM') AS firstSeenMonth,
  coalesce(r.contested, false) AS contested, f.record_id, r.id IS NOT NULL AS isRegistration`)

/** Of any organisation, for several lookups at once. */
export async function findMatches(db: Knex, queries: readonly MatchQuery[]): Promise<FoundMatch[]> {
  const requested = queries.flatMap(({ fingerprints, ...rest }, index) =>
    fingerprints.map((fingerprint) => ({ ...rest, ...fingerprint, index })),
  )
  if (requested.length === 0) return []
  const rows = await query(
    db,
    typed`SELECT DISTINCT ${MATCHES_COLUMNS}
     FROM unnest(?::int[], ?::text[], ?::bigint[], ?::uuid[], ?::int[], ?::text[], ?::text[])
       AS t(index, env, organisation_id, record_id, epoch, kind, value)
     ${storedAs('t.env')}
     LEFT JOIN financing_registrations r ON r.id = f.record_id
     WHERE ${LIVE} AND f.record_id <> t.record_id`,
    [
      requested.map(({ index }) => index),
      requested.map(({ env }) => env),
      requested.map(({ organisationId }) => organisationId),
      requested.map(({ recordId }) => recordId),
      ...columnsOf(requested),
    ],
  )
  return rows.map(({ kind, ...match }) => ({ ...match, class: CLASSES[kind] }))
}

export interface Holder {
  recordId: string
  organisationId: number
  isRegistration: boolean
  dealId: string | null
}

const HOLDER_COLUMNS = columns<Holder>()(`
  f.record_id, f.organisation_id, r.id IS NOT NULL AS isRegistration, r.deal_id`)

export async function findHolder(
  tx: Knex,
  env: ApiEnv,
  fingerprints: readonly Fingerprint[],
): Promise<Holder | undefined> {
  const exact = fingerprints.filter(({ kind }) => kind === 'RF1')
  const rows = await query(
    tx,
    typed`SELECT ${HOLDER_COLUMNS} FROM unnest(?::int[], ?::text[], ?::text[]) AS t(epoch, kind, value)
     ${storedAs('?')}
     LEFT JOIN financing_registrations r ON r.id = f.record_id
     WHERE ${LIVE} ORDER BY f.epoch DESC LIMIT 1`,
    [...columnsOf(exact), env],
  )
  return rows[0]
}

/** If true, an empty result proves nothing (docs/spec/evidence-families.md#blind-mode-and-epochs). */
export async function isAnyUncovered(db: Knex, env: ApiEnv, epochs: readonly number[]): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT 1 FROM domain_keys k JOIN financing_fingerprints f ON f.env = k.env AND f.epoch = k.epoch AND f.kind = 'RF1'
     LEFT JOIN financing_registrations r ON r.id = f.record_id
     WHERE k.env = ? AND k.purpose = 'financing-oprf' AND k.epoch <> ALL(?) AND ${LIVE}
       AND NOT EXISTS (SELECT 1 FROM financing_fingerprints o
         WHERE o.record_id = f.record_id AND o.kind = 'RF1' AND o.epoch = ANY(?) AND o.state = f.state)
     LIMIT 1`,
    [env, [...epochs], [...epochs]],
  )
  return rows.length === 1
}

/** Another may then register one of these exact fingerprints. */
export async function findLapsed(tx: Knex, env: ApiEnv, fingerprints: readonly Fingerprint[]): Promise<string[]> {
  const exact = fingerprints.filter(({ kind }) => kind === 'RF1')
  const rows = await query<{ recordId: string }>(
    tx,
    `SELECT DISTINCT f.record_id AS "recordId" FROM unnest(?::int[], ?::text[], ?::text[]) AS t(epoch, kind, value)
     ${storedAs('?')}
     LEFT JOIN financing_registrations r ON r.id = f.record_id
     WHERE f.state IN ('REGISTERED', 'FINANCED') AND coalesce(r.expires_at, f.expires_at, 'infinity') <= now()`,
    [...columnsOf(exact), env],
  )
  return rows.map(({ recordId }) => recordId)
}

/** The pack's organisation may then register the receivable. */
export async function dropRegistered(
  tx: Knex,
  recordId: string,
  fingerprints: readonly Fingerprint[],
): Promise<number> {
  return await execute(
    tx,
    `UPDATE financing_fingerprints f SET state = 'LAPSED'
     FROM unnest(?::int[], ?::text[], ?::text[]) AS t(epoch, kind, value)
     WHERE f.record_id = ? AND f.epoch = t.epoch AND f.kind = t.kind AND f.fingerprint = decode(t.value, 'hex')
       AND f.state = 'REGISTERED'`,
    [...columnsOf(fingerprints), recordId],
  )
}

/** Returns the number of fingerprints. */
export async function lapsePresented(db: Knex, limit: number): Promise<number> {
  return await execute(
    db,
    `UPDATE financing_fingerprints SET state = 'LAPSED' WHERE id IN (
       SELECT id FROM financing_fingerprints WHERE state = 'REGISTERED' AND expires_at <= now()
       ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [limit],
  )
}
