import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import { query } from '../../platform/database/sql.ts'
import { anchorObject } from '../../transparency/anchoring/store.ts'
import { isUuid } from '../../uuid.ts'
import { RECEIVABLE_EVENT_TYPE, type Receivable } from './evidence-object.ts'

export interface ReceivableScope {
  organisationId: number
  env: ApiEnv
}

/**
 * Records a receivable and anchors it, once per reference: what was recorded before stays as it was.
 * @param ref the organisation's own reference, such as its invoice number; not part of what is anchored
 * @param timestamp ISO 8601 UTC with milliseconds
 */
export async function recordReceivable(
  tx: Knex.Transaction,
  scope: ReceivableScope,
  ref: string,
  facts: Omit<Receivable, 'receivableId' | 'eventType' | 'timestamp' | 'anchor'>,
  timestamp: string,
): Promise<string> {
  await query(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 13))', [
    `${scope.organisationId}/${scope.env}/${ref}`,
  ])
  const known = await findReceivable(tx, scope, ref)
  if (known !== undefined) return known
  const receivableId = randomUUID()
  const object = { receivableId, ...facts, eventType: RECEIVABLE_EVENT_TYPE, timestamp }
  const anchor = await anchorObject(tx, scope.env, RECEIVABLE_EVENT_TYPE, timestamp, object)
  const body = canonicalize({ ...object, anchor })
  await query(tx, 'INSERT INTO receivables (id, organisation_id, env, ref, body) VALUES (?, ?, ?, ?, ?)', [
    receivableId,
    scope.organisationId,
    scope.env,
    ref,
    body,
  ])
  return body
}

/** The evidence object as it was anchored, by the organisation's reference or by its id. @returns undefined if unknown */
export async function findReceivable(
  db: Knex,
  { organisationId, env }: ReceivableScope,
  ref: string,
): Promise<string | undefined> {
  const rows = await query<{ body: string }>(
    db,
    `SELECT body FROM receivables WHERE organisation_id = ? AND env = ? AND (ref = ? OR id = ?::uuid)
     ORDER BY ref = ? DESC LIMIT 1`,
    [organisationId, env, ref, isUuid(ref) ? ref : null, ref],
  )
  return rows[0]?.body
}

/** Whether a consumer of securitisation evidence has been given a key at all: in the whole service, or one organisation. */
export async function hasConsumerKey(db: Knex, scope: ReceivableScope | null): Promise<boolean> {
  const [row] = await query<{ exists: boolean }>(
    db,
    `SELECT EXISTS (SELECT 1 FROM consumer_keys WHERE revoked_at IS NULL
       AND (?::bigint IS NULL OR (organisation_id = ? AND env = ?))) AS exists`,
    [scope?.organisationId ?? null, scope?.organisationId ?? null, scope?.env ?? null],
  )
  return row?.exists === true
}
