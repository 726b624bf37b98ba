import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Presentation } from './presentation.ts'

const COLUMNS = columns<Row>()(`
  id, organisation_id, env, subject_id, deal_id, purpose, query, response_mode, redirect_uri, retain_hours, client_id,
  sealed_secrets, state, fetches, refusals, reasons, wallet_error, sealed_form, response_code_digest, fields, issuer,
  tier, assurance, credential_expires_at, discarded, record, created_at, expires_at, received_at, finished_at`)

type Row = Omit<Presentation, 'query'> & { query: string }

function fromRow(row: Row | undefined): Presentation | undefined {
  return row && { ...row, query: JSON.parse(row.query) }
}

export type NewPresentation = Pick<
  Presentation,
  | 'id'
  | 'organisationId'
  | 'env'
  | 'subjectId'
  | 'dealId'
  | 'purpose'
  | 'query'
  | 'responseMode'
  | 'redirectUri'
  | 'retainHours'
  | 'clientId'
  | 'sealedSecrets'
  | 'createdAt'
  | 'expiresAt'
> & { handleDigest: Buffer }

export async function insertPresentation(tx: Knex, made: NewPresentation): Promise<void> {
  await execute(
    tx,
    `INSERT INTO presentations (id, organisation_id, env, subject_id, deal_id, purpose, query, response_mode,
       redirect_uri, retain_hours, client_id, sealed_secrets, handle_digest, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      made.id,
      made.organisationId,
      made.env,
      made.subjectId,
      made.dealId,
      made.purpose,
      JSON.stringify(made.query),
      made.responseMode,
      made.redirectUri,
      made.retainHours,
      made.clientId,
      made.sealedSecrets,
      made.handleDigest,
      made.createdAt,
      made.expiresAt,
    ],
  )
}

export async function findPresentation(db: Knex, owner: Owner, id: string): Promise<Presentation | undefined> {
  const sql = typed`SELECT ${COLUMNS} FROM presentations WHERE id = ? AND organisation_id = ? AND env = ?`
  const [row] = await query(db, sql, [id, owner.organisationId, owner.env])
  return fromRow(row)
}

type ListedPresentation = Pick<Presentation, 'id' | 'subjectId' | 'state' | 'purpose' | 'createdAt' | 'expiresAt'> & {
  seq: number
}

const LISTED_COLUMNS = columns<ListedPresentation>()('id, subject_id, seq, state, purpose, created_at, expires_at')

/** Newest first. `before` is of the last row of the previous page. */
export async function listPresentations(
  db: Knex,
  owner: Owner,
  { subjectId, before, limit }: { subjectId: string | null; before: number | null; limit: number },
): Promise<ListedPresentation[]> {
  return await query(
    db,
    typed`SELECT ${LISTED_COLUMNS} FROM presentations
     WHERE organisation_id = ? AND env = ? AND (?::uuid IS NULL OR subject_id = ?)
       AND (?::bigint IS NULL OR seq < ?) ORDER BY seq DESC LIMIT ?`,
    [owner.organisationId, owner.env, subjectId, subjectId, before, before, limit],
  )
}

export async function findById(db: Knex, id: string): Promise<Presentation | undefined> {
  const [row] = await query(db, typed`SELECT ${COLUMNS} FROM presentations WHERE id = ?`, [id])
  return fromRow(row)
}

export async function findByHandle(db: Knex, handleDigest: Buffer): Promise<Presentation | undefined> {
  const [row] = await query(db, typed`SELECT ${COLUMNS} FROM presentations WHERE handle_digest = ?`, [handleDigest])
  return fromRow(row)
}

export async function lockPresentation(tx: Knex.Transaction, id: string): Promise<Presentation | undefined> {
  const [row] = await query(tx, typed`SELECT ${COLUMNS} FROM presentations WHERE id = ? FOR UPDATE`, [id])
  return fromRow(row)
}

/** Returns false when the limit is reached, or the request is no longer open. */
export async function countFetch(db: Knex, id: string, largest: number): Promise<boolean> {
  const changed = await execute(
    db,
    `UPDATE presentations SET fetches = fetches + 1,
       state = CASE state WHEN 'CREATED' THEN 'REQUEST_FETCHED' ELSE state END
     WHERE id = ? AND fetches < ? AND state IN ('CREATED', 'REQUEST_FETCHED', 'RECEIVED')`,
    [id, largest],
  )
  return changed === 1
}

export async function setReceived(
  tx: Knex.Transaction,
  id: string,
  received: { sealedForm: string; responseCodeDigest: Buffer | null; at: Date },
): Promise<void> {
  await execute(
    tx,
    `UPDATE presentations SET state = 'RECEIVED', sealed_form = ?, response_code_digest = ?, received_at = ?
     WHERE id = ?`,
    [received.sealedForm, received.responseCodeDigest, received.at, id],
  )
}

export async function setReasons(db: Knex, id: string, reasons: readonly string[]): Promise<void> {
  const sql = `UPDATE presentations SET reasons = ? WHERE id = ? AND state IN ('CREATED', 'REQUEST_FETCHED')`
  await execute(db, sql, [reasons, id])
}

export async function setRefused(
  tx: Knex.Transaction,
  id: string,
  refused: { state: 'REQUEST_FETCHED' | 'REJECTED'; reasons: readonly string[]; walletError: string | null; at: Date },
): Promise<void> {
  await execute(
    tx,
    `UPDATE presentations SET state = ?, reasons = ?, wallet_error = ?, refusals = refusals + 1, sealed_form = NULL,
       finished_at = ? WHERE id = ?`,
    [refused.state, refused.reasons, refused.walletError, refused.state === 'REJECTED' ? refused.at : null, id],
  )
}

export interface VerifiedPresentation {
  fields: readonly string[]
  issuer: string
  tier: string
  assurance: string
  credentialExpiresAt: Date | null
  discarded: number
  record: string
  sealedValues: string
  sealedStatus: string | null
  /** of credentials that the sandbox issued */
  credentialDigests: readonly Buffer[]
  purgeAt: Date
  at: Date
}

export async function setVerified(tx: Knex.Transaction, id: string, verified: VerifiedPresentation): Promise<void> {
  await execute(
    tx,
    `UPDATE presentations SET state = 'VERIFIED', reasons = '{}', fields = ?, issuer = ?, tier = ?, assurance = ?,
       credential_expires_at = ?, discarded = ?, record = ?, sealed_form = NULL, finished_at = ? WHERE id = ?`,
    [
      verified.fields,
      verified.issuer,
      verified.tier,
      verified.assurance,
      verified.credentialExpiresAt,
      verified.discarded,
      verified.record,
      verified.at,
      id,
    ],
  )
  await execute(
    tx,
    `INSERT INTO presentation_values (presentation_id, sealed_values, sealed_status, credential_digests, purge_at)
     VALUES (?, ?, ?, ?, ?)`,
    [id, verified.sealedValues, verified.sealedStatus, verified.credentialDigests, verified.purgeAt],
  )
}

/** Undefined once they are purged or erased. */
export async function findValues(db: Knex, id: string, at: Date): Promise<string | undefined> {
  const [row] = await query<{ sealedValues: string }>(
    db,
    'SELECT sealed_values AS "sealedValues" FROM presentation_values WHERE presentation_id = ? AND purge_at > ?',
    [id, at],
  )
  return row?.sealedValues
}

export async function purgeValues(db: Knex, at: Date, limit: number): Promise<number> {
  const due = 'SELECT presentation_id FROM presentation_values WHERE purge_at <= ? ORDER BY purge_at LIMIT ?'
  return await deleteValues(db, due, [at, limit])
}

/**
 * Also deletes responses of idempotency keys that contain a presented credential: the sandbox issues credentials on
 * request, with all claims. `presentations` is SQL that selects ids. Returns the number of presentations.
 */
export async function deleteValues(
  db: Knex,
  presentations: string,
  bindings: readonly (string | number | Date)[],
): Promise<number> {
  const [row] = await query<{ gone: number }>(
    db,
    `WITH gone AS (
       DELETE FROM presentation_values WHERE presentation_id IN (${presentations}) RETURNING credential_digests
     ), forgotten AS (
       DELETE FROM idempotency_keys WHERE erasure_digest IN (SELECT unnest(credential_digests) FROM gone)
     )
     SELECT count(*)::int AS gone FROM gone`,
    [...bindings],
  )
  return row?.gone ?? 0
}

/** Returns the number of requests that were not answered in time. */
export async function expirePresentations(db: Knex, at: Date, limit: number): Promise<number> {
  return await execute(
    db,
    `UPDATE presentations SET state = 'EXPIRED', finished_at = ? WHERE id IN
       (SELECT id FROM presentations WHERE state IN ('CREATED', 'REQUEST_FETCHED') AND expires_at <= ?
        ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [at, at, limit],
  )
}

/** Ends responses whose verification was dead-lettered, after retainHours, one hour at least. Returns the number. */
export async function endUnsettled(db: Knex, at: Date, limit: number): Promise<number> {
  return await execute(
    db,
    `UPDATE presentations SET state = 'EXPIRED', sealed_form = NULL, finished_at = ? WHERE id IN
       (SELECT id FROM presentations WHERE state = 'RECEIVED'
          AND received_at + greatest(retain_hours, 1) * interval '1 hour' <= ?
        ORDER BY received_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [at, at, limit],
  )
}

/** Undefined once it is purged. */
export async function findSealedStatus(db: Knex, id: string): Promise<string | undefined> {
  const sql = 'SELECT sealed_status AS "sealedStatus" FROM presentation_values WHERE presentation_id = ?'
  const [row] = await query<{ sealedStatus: string | null }>(db, sql, [id])
  return row?.sealedStatus ?? undefined
}
