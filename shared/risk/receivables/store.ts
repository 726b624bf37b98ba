import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import { execute, query } from '../../platform/database/sql.ts'
import { isUuid } from '../../uuid.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { type ReceivableIdentity, receivableName } from '../first-financing/fingerprint-input.ts'
import { recordUsage } from '../metering/store.ts'
import { RECEIVABLE_EVENT_TYPE, type Receivable } from './evidence-object.ts'

export interface ReceivableScope {
  organisationId: number
  env: ApiEnv
}

/** What makes a receivable the same one, whoever presents it. */
export type ReceivableName = Pick<
  ReceivableIdentity,
  'supplierGstin' | 'documentType' | 'documentNumber' | 'documentDate'
>

/**
 * Records a receivable and anchors it, once per supplier, financial year, type and number: what was recorded before
 * stays as it was. The document's number is the organisation's own reference, and no part of what is anchored.
 * @param timestamp ISO 8601 UTC with milliseconds
 */
export async function recordReceivable(
  tx: Knex.Transaction,
  scope: ReceivableScope,
  name: ReceivableName,
  facts: Omit<Receivable, 'receivableId' | 'eventType' | 'timestamp' | 'anchor'>,
  timestamp: string,
): Promise<string> {
  const identity = receivableName(name)
  await query(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 13))', [
    `${scope.organisationId}/${scope.env}/${identity}`,
  ])
  const [known] = await query<{ body: string }>(
    tx,
    'SELECT body FROM receivables WHERE organisation_id = ? AND env = ? AND identity = ?',
    [scope.organisationId, scope.env, identity],
  )
  if (known) return known.body
  const receivableId = randomUUID()
  const body = canonicalize(
    await anchorRecord(tx, scope.env, RECEIVABLE_EVENT_TYPE, timestamp, { receivableId, ...facts }),
  )
  await execute(
    tx,
    'INSERT INTO receivables (id, organisation_id, env, ref, identity, body) VALUES (?, ?, ?, ?, ?, ?)',
    [receivableId, scope.organisationId, scope.env, name.documentNumber, identity, body],
  )
  await recordUsage(tx, { ...scope, family: 'securitisation', unitKey: `receivable/${receivableId}` })
  return body
}

/**
 * Evidence objects as they were anchored, by id or by the organisation's reference, which several suppliers may use.
 * @returns at most two: more than one means that the reference does not say which
 */
export async function findReceivables(
  db: Knex,
  { organisationId, env }: ReceivableScope,
  ref: string,
): Promise<{ receivableId: string; body: string }[]> {
  return await query(
    db,
    `SELECT id AS "receivableId", body FROM receivables
     WHERE organisation_id = ? AND env = ? AND (ref = ? OR id = ?::uuid) ORDER BY created_at, id LIMIT 2`,
    [organisationId, env, ref, isUuid(ref) ? ref : null],
  )
}

/** What the organisation's own registrations, among these records, say of a receivable. */
export async function knownOfReceivable(
  db: Knex,
  { organisationId, env }: ReceivableScope,
  recordIds: readonly string[],
): Promise<{ dueDate: string | null }> {
  const [row] = await query<{ dueDate: string | null }>(
    db,
    `SELECT to_char(due_date, 'YYYY-MM-DD') AS "dueDate" FROM financing_registrations
     WHERE id = ANY(?::uuid[]) AND organisation_id = ? AND env = ? AND due_date IS NOT NULL LIMIT 1`,
    [[...recordIds], organisationId, env],
  )
  return { dueDate: row?.dueDate ?? null }
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
