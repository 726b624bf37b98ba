import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

/** Includes the values of the commitments. */
export interface StoredDocument {
  id: string
  body: string
  sealedValues: string
}

export async function insertDocument(
  tx: Knex,
  owner: Owner,
  document: StoredDocument & { type: string; sha256: Buffer },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO trade_documents (id, organisation_id, env, type, sha256, body, sealed_values)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [
      document.id,
      owner.organisationId,
      owner.env,
      document.type,
      document.sha256,
      document.body,
      document.sealedValues,
    ],
  )
}

const DOCUMENT = columns<StoredDocument>({ id: 'id', body: 'body', sealedValues: 'sealed_values' })

/** In the order of the ids; omits others. */
export async function findDocuments(db: Knex, owner: Owner, ids: readonly string[]): Promise<StoredDocument[]> {
  return await query(
    db,
    typed`SELECT ${DOCUMENT} FROM unnest(?::uuid[]) WITH ORDINALITY AS t(wanted, place)
     JOIN trade_documents ON id = wanted WHERE organisation_id = ? AND env = ? ORDER BY place`,
    [[...ids], owner.organisationId, owner.env],
  )
}

/** `before` is the seq of the last row seen. */
export interface ListPage {
  before: number | null
  limit: number
}

const LISTED_COLUMNS = columns<{ seq: number; body: string }>({ seq: 'seq', body: 'body' })

export async function listDocuments(db: Knex, owner: Owner, page: ListPage): Promise<{ seq: number; body: string }[]> {
  return await query(
    db,
    typed`SELECT ${LISTED_COLUMNS} FROM trade_documents WHERE organisation_id = ? AND env = ? AND (?::bigint IS NULL OR seq < ?)
     ORDER BY seq DESC LIMIT ?`,
    [owner.organisationId, owner.env, page.before, page.before, page.limit],
  )
}

/** Request and response are sealed. */
export interface StoredVerification {
  id: string
  body: string
  sealedValues: string
}

export async function insertVerification(
  tx: Knex,
  owner: Owner,
  verification: StoredVerification & { subjectKind: string },
): Promise<void> {
  const { id, subjectKind, body, sealedValues } = verification
  await execute(
    tx,
    `INSERT INTO trade_verifications (id, organisation_id, env, subject_kind, body, sealed_values)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [id, owner.organisationId, owner.env, subjectKind, body, sealedValues],
  )
}

const STORED_VERIFICATION_COLUMNS = columns<StoredVerification>()('id, body, sealed_values')

/** In the order of the ids; omits others. */
export async function findVerifications(db: Knex, owner: Owner, ids: readonly string[]): Promise<StoredVerification[]> {
  return await query(
    db,
    typed`SELECT ${STORED_VERIFICATION_COLUMNS} FROM unnest(?::uuid[]) WITH ORDINALITY AS t(wanted, place)
     JOIN trade_verifications ON id = wanted WHERE organisation_id = ? AND env = ? ORDER BY place`,
    [[...ids], owner.organisationId, owner.env],
  )
}

export async function listVerifications(
  db: Knex,
  owner: Owner,
  page: ListPage,
): Promise<{ seq: number; body: string }[]> {
  return await query(
    db,
    typed`SELECT ${LISTED_COLUMNS} FROM trade_verifications WHERE organisation_id = ? AND env = ? AND (?::bigint IS NULL OR seq < ?)
     ORDER BY seq DESC LIMIT ?`,
    [owner.organisationId, owner.env, page.before, page.before, page.limit],
  )
}

/** `proof` is stored once the log includes the record, so that the bundle does not change afterwards. */
export interface StoredTradePack {
  id: string
  title: string | null
  envelope: string
  record: string
  /** JSON text */
  publicKey: string
  documentIds: string[]
  verificationIds: string[]
  pdf: Buffer
  proof: string | null
  issuedAt: Date
}

export async function insertTradePack(
  tx: Knex,
  owner: Owner,
  pack: Omit<StoredTradePack, 'proof' | 'issuedAt'>,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO trade_packs
       (id, organisation_id, env, title, envelope, record, public_key, document_ids, verification_ids, pdf)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      pack.id,
      owner.organisationId,
      owner.env,
      pack.title,
      pack.envelope,
      pack.record,
      pack.publicKey,
      pack.documentIds,
      pack.verificationIds,
      pack.pdf,
    ],
  )
}

const PACK = columns<StoredTradePack>()(`
  id, title, envelope, record, public_key, document_ids, verification_ids, pdf, proof, created_at AS issuedAt`)

export async function findTradePack(db: Knex, owner: Owner, id: string): Promise<StoredTradePack | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${PACK} FROM trade_packs WHERE id = ? AND organisation_id = ? AND env = ?`,
    [id, owner.organisationId, owner.env],
  )
  return row
}

export interface ListedTradePack {
  seq: number
  id: string
  title: string | null
  record: string
}

const LISTED_TRADE_PACK_COLUMNS = columns<ListedTradePack>({ seq: 'seq', id: 'id', title: 'title', record: 'record' })

export async function listTradePacks(db: Knex, owner: Owner, page: ListPage): Promise<ListedTradePack[]> {
  return await query(
    db,
    typed`SELECT ${LISTED_TRADE_PACK_COLUMNS} FROM trade_packs WHERE organisation_id = ? AND env = ?
       AND (?::bigint IS NULL OR seq < ?) ORDER BY seq DESC LIMIT ?`,
    [owner.organisationId, owner.env, page.before, page.before, page.limit],
  )
}

/** Returns the stored proof. */
export async function saveProof(db: Knex, id: string, proof: string): Promise<string> {
  const [row] = await query<{ proof: string }>(
    db,
    'UPDATE trade_packs SET proof = coalesce(proof, ?) WHERE id = ? RETURNING proof',
    [proof, id],
  )
  return row?.proof ?? proof
}
