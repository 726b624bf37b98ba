import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { type BuyerRequest, type BuyerRequestState, CODE_MINUTES, REQUEST_DAYS, requestState } from './buyer-request.ts'

export async function insertBuyerRequest(
  tx: Knex,
  owner: Owner,
  request: { id: string; ref: string; digest: Buffer; sealedDetails: string },
): Promise<Date> {
  const [row] = await query<{ expiresAt: Date }>(
    tx,
    `INSERT INTO acceptance_requests (id, organisation_id, env, receivable_ref, digest, sealed_details, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, now() + make_interval(days => ?)) RETURNING expires_at AS "expiresAt"`,
    [request.id, owner.organisationId, owner.env, request.ref, request.digest, request.sealedDetails, REQUEST_DAYS],
  )
  if (!row) throw new Error('an insert returns its row')
  return row.expiresAt
}

const COLUMNS = columns<BuyerRequest>()(`
  id, organisation_id, env, receivable_ref, sealed_details, codes_sent, code_digest,
  coalesce(code_expires_at > now(), false) AS isCodeLive, wrong_codes, answered_at IS NOT NULL AS isAnswered`)

/** Omits ended links. */
export async function findBuyerRequest(db: Knex, digests: readonly Buffer[]): Promise<BuyerRequest | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM acceptance_requests WHERE digest = ANY(?::bytea[]) AND expires_at > now()`,
    [digests],
  )
  return row
}

/** Locks the request, so that codes are counted and answers accepted one at a time. */
export async function lockBuyerRequest(
  tx: Knex.Transaction,
  digests: readonly Buffer[],
): Promise<BuyerRequest | undefined> {
  const [row] = await query(
    tx,
    typed`SELECT ${COLUMNS} FROM acceptance_requests WHERE digest = ANY(?::bytea[]) AND expires_at > now() FOR UPDATE`,
    [digests],
  )
  return row
}

export async function setBuyerCode(tx: Knex.Transaction, id: string, codeDigest: Buffer): Promise<void> {
  await execute(
    tx,
    `UPDATE acceptance_requests SET codes_sent = codes_sent + 1, code_digest = ?,
       code_expires_at = now() + make_interval(mins => ?) WHERE id = ?`,
    [codeDigest, CODE_MINUTES, id],
  )
}

export async function countWrongCode(tx: Knex.Transaction, id: string): Promise<void> {
  await execute(tx, 'UPDATE acceptance_requests SET wrong_codes = wrong_codes + 1 WHERE id = ?', [id])
}

/** Also deletes the mailbox. */
export async function setAnswered(tx: Knex.Transaction, id: string, acceptanceId: string): Promise<void> {
  await execute(
    tx,
    `UPDATE acceptance_requests SET answered_at = now(), acceptance_id = ?, sealed_details = NULL, code_digest = NULL
     WHERE id = ?`,
    [acceptanceId, id],
  )
}

export interface ListedRequest {
  requestId: string
  state: BuyerRequestState
  expiresAt: string
  acceptanceId: string | null
}

const BUYER_REQUESTS_COLUMNS = columns<{
  id: string
  isAnswered: boolean
  isOver: boolean
  wrongCodes: number
  expiresAt: Date
  acceptanceId: string | null
}>()('id, answered_at IS NOT NULL AS isAnswered, expires_at <= now() AS isOver, wrong_codes, expires_at, acceptance_id')

export async function listBuyerRequests(db: Knex, owner: Owner, ref: string): Promise<ListedRequest[]> {
  const rows = await query(
    db,
    typed`SELECT ${BUYER_REQUESTS_COLUMNS} FROM acceptance_requests
     WHERE organisation_id = ? AND env = ? AND receivable_ref = ? ORDER BY created_at, id LIMIT 100`,
    [owner.organisationId, owner.env, ref],
  )
  return rows.map(({ id, expiresAt, acceptanceId, ...rest }) => ({
    requestId: id,
    state: requestState(rest),
    expiresAt: expiresAt.toISOString(),
    acceptanceId,
  }))
}

/** Returns the number of expired requests. */
export async function forgetMailboxes(db: Knex, limit: number): Promise<number> {
  return await execute(
    db,
    `UPDATE acceptance_requests SET sealed_details = NULL, code_digest = NULL
     WHERE id IN (SELECT id FROM acceptance_requests WHERE sealed_details IS NOT NULL AND expires_at <= now()
                  ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED)`,
    [limit],
  )
}
