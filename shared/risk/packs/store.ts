import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { SignalLevel } from './pack-schema.ts'

export type PackState = 'QUEUED' | 'READY' | 'FAILED'

export interface NewPack {
  id: string
  organisationId: number
  env: ApiEnv
  idempotencyKey: string
  sealedRequest: string
  dealId: string | null
  borrowerGstin: string
  pair: string
}

export async function insertPack(tx: Knex, pack: NewPack): Promise<void> {
  await execute(
    tx,
    `INSERT INTO packs (id, organisation_id, env, idempotency_key, sealed_request, deal_id, borrower_gstin,
       pair_job_key)
     VALUES (?, ?, ?, ?, ?, ?, ?,
       sha256(convert_to(? || '/' || to_char(now() AT TIME ZONE 'Asia/Kolkata', 'YYYY-MM-DD'), 'UTF8')))`,
    [
      pack.id,
      pack.organisationId,
      pack.env,
      pack.idempotencyKey,
      pack.sealedRequest,
      pack.dealId,
      pack.borrowerGstin,
      pack.pair,
    ],
  )
}

export interface PackJob {
  id: string
  organisationId: number
  organisationUuid: string
  env: ApiEnv
  idempotencyKey: string
  sealedRequest: string
  dealId: string | null
  state: PackState
}

const PACK_JOB_COLUMNS = columns<PackJob>()(`
  p.id, p.organisation_id, o.uuid AS organisationUuid, p.env, p.idempotency_key, p.sealed_request, p.deal_id, p.state`)

/** Deleted organisations take their packs with them. */
export async function findPackJobs(db: Knex, ids: readonly string[]): Promise<PackJob[]> {
  const rows = await query(
    db,
    typed`SELECT ${PACK_JOB_COLUMNS}
     FROM packs p JOIN organisations o ON o.id = p.organisation_id WHERE p.id = ANY(?::uuid[])`,
    [[...ids]],
  )
  return rows
}

/** Returns false when it had ended before. */
export async function failPack(tx: Knex, id: string, code: string): Promise<boolean> {
  const rowCount = await execute(
    tx,
    `UPDATE packs SET state = 'FAILED', failure_code = ?, finished_at = now() WHERE id = ? AND state = 'QUEUED'`,
    [code, id],
  )
  return rowCount === 1
}

export interface PackOutcome {
  state: PackState
  /** byte for byte; null unless READY */
  body: string | null
  failureCode: string | null
}

const PACK_OUTCOME_COLUMNS = columns<PackOutcome>({ state: 'state', body: 'body', failureCode: 'failure_code' })

export async function findPack(
  db: Knex,
  owner: { organisationId: number; env: ApiEnv },
  id: string,
): Promise<PackOutcome | undefined> {
  const rows = await query(
    db,
    typed`SELECT ${PACK_OUTCOME_COLUMNS} FROM packs WHERE id = ? AND organisation_id = ? AND env = ?`,
    [id, owner.organisationId, owner.env],
  )
  return rows[0]
}

/** JSON text; null if the pack is not ready. */
export async function findEvidence(
  db: Knex,
  owner: { organisationId: number; env: ApiEnv },
  id: string,
): Promise<string | null | undefined> {
  const rows = await query<{ body: string | null }>(
    db,
    `SELECT e.body FROM packs p LEFT JOIN pack_evidence e ON e.pack_id = p.id
     WHERE p.id = ? AND p.organisation_id = ? AND p.env = ?`,
    [id, owner.organisationId, owner.env],
  )
  return rows[0]?.body
}

export interface PackListing {
  packId: string
  status: PackState
  signalLevel: string | null
  dealId: string | null
  requestedAt: Date
  finishedAt: Date | null
}

const PACKS_COLUMNS = columns<PackListing & { micros: number }>()(`
  id AS packId, state AS status, signal_level, deal_id, requested_at, finished_at,
  (extract(epoch FROM requested_at) * 1000000)::bigint AS micros`)

/** Newest first. `before` is the last row of the previous page: microseconds and id. `level` null is all. */
export async function listPacks(
  db: Knex,
  owner: { organisationId: number; env: ApiEnv },
  before: { micros: number; id: string } | null,
  limit: number,
  level: SignalLevel | null = null,
): Promise<(PackListing & { micros: number })[]> {
  const rows = await query(
    db,
    typed`SELECT ${PACKS_COLUMNS}
     FROM packs WHERE organisation_id = ? AND env = ? AND (?::text IS NULL OR signal_level = ?) ${before ? BEFORE : ''}
     ORDER BY requested_at DESC, id DESC LIMIT ?`,
    [owner.organisationId, owner.env, level, level, ...(before ? [before.micros, before.id] : []), limit],
  )
  return rows
}

export interface PackSubject {
  /** null for packs of earlier releases */
  borrower: string | null
  buyer: string
  valueInr: number
  /** the tier of each value of its evidence */
  tiers: string[]
}

const PACK_SUBJECTS_COLUMNS = columns<PackSubject & { id: string }>({
  id: 'p.id',
  borrower: 'p.borrower_gstin',
  buyer: "p.body::jsonb #>> '{signals,tradeRelationship,ab,counterpartyGstin}'",
  valueInr: "(p.body::jsonb #> '{signals,borrowerCapacity,orderValueInr}')::float8",
  tiers: "array(SELECT value ->> 'tier' FROM jsonb_array_elements(e.body::jsonb -> 'evidence') AS value)",
})

/** By pack id; omits unready packs. */
export async function listPackSubjects(db: Knex, ids: readonly string[]): Promise<Map<string, PackSubject>> {
  const rows = await query(
    db,
    typed`SELECT ${PACK_SUBJECTS_COLUMNS}
     FROM packs p LEFT JOIN pack_evidence e ON e.pack_id = p.id WHERE p.id = ANY(?::uuid[]) AND p.body IS NOT NULL`,
    [ids],
  )
  return new Map(rows.map(({ id, ...subject }) => [id, subject]))
}

const BEFORE = `AND (requested_at, id) < ('epoch'::timestamptz + ? * interval '1 microsecond', CAST(? AS uuid))`

/** The pack presented the order first. */
export async function insertOrderRecord(tx: Knex, record: { id: string; packId: string; body: string }): Promise<void> {
  await execute(tx, 'INSERT INTO order_records (id, pack_id, body) VALUES (?, ?, ?)', [
    record.id,
    record.packId,
    record.body,
  ])
}

/** JSON text; undefined if this pack did not present an order first. */
export async function findOrderRecord(
  db: Knex,
  owner: { organisationId: number; env: ApiEnv },
  packId: string,
): Promise<string | undefined> {
  const [row] = await query<{ body: string }>(
    db,
    `SELECT r.body FROM order_records r JOIN packs p ON p.id = r.pack_id
     WHERE p.id = ? AND p.organisation_id = ? AND p.env = ?`,
    [packId, owner.organisationId, owner.env],
  )
  return row?.body
}
