import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { execute, query } from '../../platform/database/sql.ts'
import type { RegistryMatch } from '../packs/signals/double-financing.ts'

/** Raised when the fingerprint key is replaced; fingerprints of different epochs never meet. */
const FINGERPRINT_EPOCH = 1

/** RF1 and PO1 are exact and unique among live records; the others only match. */
type FingerprintKind = 'RF1' | 'RF2' | 'RF3' | 'PO1'

/** One fingerprint of a record, hex. */
export interface Fingerprint {
  kind: FingerprintKind
  value: string
}

export interface FirstRecord {
  env: ApiEnv
  organisationId: number
  /** of the record these fingerprints belong to: a pack, or a registration */
  recordId: string
  fingerprints: readonly Fingerprint[]
}

/**
 * Records who presented something first. Where another live record holds the same exact fingerprint the unique index
 * refuses ours, also when both come at the same moment: the loser waits for the winner's commit and then sees it.
 * @returns the fingerprints that were stored now; none when this record was stored before
 */
export async function recordFingerprints(tx: Knex, record: FirstRecord): Promise<Fingerprint[]> {
  const rows = await query<Fingerprint>(
    tx,
    `INSERT INTO financing_fingerprints (env, epoch, kind, fingerprint, organisation_id, state, record_id)
     SELECT ?, ?, kind, decode(value, 'hex'), ?, 'REGISTERED', ?
     FROM unnest(?::text[], ?::text[]) AS t(kind, value) ORDER BY kind, value
     ON CONFLICT DO NOTHING RETURNING kind, encode(fingerprint, 'hex') AS value`,
    [
      record.env,
      FINGERPRINT_EPOCH,
      record.organisationId,
      record.recordId,
      record.fingerprints.map(({ kind }) => kind),
      record.fingerprints.map(({ value }) => value),
    ],
  )
  return rows
}

/** Notes where the record was anchored. */
export async function setRecordAnchor(tx: Knex, recordId: string, txId: Buffer): Promise<void> {
  await execute(tx, 'UPDATE financing_fingerprints SET tx_id = ? WHERE record_id = ?', [txId, recordId])
}

const CLASSES: Record<FingerprintKind, RegistryMatch['class']> = {
  RF1: 'EXACT',
  PO1: 'EXACT',
  RF2: 'NEAR',
  RF3: 'ECONOMIC',
}

/**
 * Live records of the same things, others' and one's own, without this one. Who the others are is not said.
 */
export async function findMatches(db: Knex, record: FirstRecord): Promise<RegistryMatch[]> {
  if (record.fingerprints.length === 0) return []
  const rows = await query<{
    kind: FingerprintKind
    state: 'REGISTERED' | 'FINANCED'
    isOwn: boolean
    firstSeenMonth: string
  }>(
    db,
    `SELECT DISTINCT f.kind, f.state, f.organisation_id = ? AS "isOwn",
       to_char(f.first_seen_at AT TIME ZONE 'Asia/Kolkata', 'YYYY-MM') AS "firstSeenMonth"
     FROM financing_fingerprints f
     JOIN unnest(?::text[], ?::text[]) AS t(kind, value) ON f.kind = t.kind AND f.fingerprint = decode(t.value, 'hex')
     WHERE f.env = ? AND f.epoch = ? AND f.state IN ('REGISTERED', 'FINANCED') AND f.record_id <> ?`,
    [
      record.organisationId,
      record.fingerprints.map(({ kind }) => kind),
      record.fingerprints.map(({ value }) => value),
      record.env,
      FINGERPRINT_EPOCH,
      record.recordId,
    ],
  )
  return rows.map(({ kind, state, isOwn, firstSeenMonth }) => ({
    class: CLASSES[kind],
    state,
    ownRegistration: isOwn,
    firstSeenMonth,
  }))
}
