import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { isUuid } from '../../uuid.ts'
import { anchorRecords } from '../evidence/record-store.ts'
import { type ReceivableIdentity, receivableName } from '../first-financing/fingerprint-input.ts'
import { recordUnits } from '../metering/store.ts'
import { RECEIVABLE_EVENT_TYPE, type Receivable } from './evidence-object.ts'

export interface ReceivableScope {
  organisationId: number
  env: ApiEnv
}

export type ReceivableName = Pick<
  ReceivableIdentity,
  'supplierGstin' | 'documentType' | 'documentNumber' | 'documentDate'
>

/** Known when a receivable is recorded. */
export type ReceivableFacts = Omit<Receivable, 'receivableId' | 'eventType' | 'timestamp' | 'anchor'>

/** Once per supplier, financial year, type and number. The number is not anchored. */
export async function recordReceivable(
  tx: Knex.Transaction,
  scope: ReceivableScope,
  name: ReceivableName,
  facts: ReceivableFacts,
  timestamp: string,
): Promise<string> {
  const [body = ''] = await recordReceivables(tx, scope, [{ name, facts }], timestamp)
  return body
}

const RECEIVABLES_COLUMNS = columns<{ identity: string; body: string }>({ identity: 'identity', body: 'body' })

/** Uses as many statements as one. In the order of the arguments. */
export async function recordReceivables(
  tx: Knex.Transaction,
  scope: ReceivableScope,
  inputs: readonly { name: ReceivableName; facts: ReceivableFacts }[],
  timestamp: string,
): Promise<string[]> {
  const { organisationId, env } = scope
  const named = inputs.map((each) => ({ ...each, identity: receivableName(each.name) }))
  const identities = [...new Set(named.map(({ identity }) => identity))]
  // Sorted, so that two concurrent calls cannot deadlock.
  await query(
    tx,
    `SELECT pg_advisory_xact_lock(hashtextextended(t.key, 13))
     FROM (SELECT key FROM unnest(?::text[]) AS u(key) ORDER BY key) t`,
    [identities.map((identity) => `${organisationId}/${env}/${identity}`)],
  )
  const rows = await query(
    tx,
    typed`SELECT ${RECEIVABLES_COLUMNS} FROM receivables WHERE organisation_id = ? AND env = ? AND identity = ANY(?::text[])`,
    [organisationId, env, identities],
  )
  const bodies = new Map(rows.map(({ identity, body }) => [identity, body]))
  const fresh = [...new Map(named.map((each) => [each.identity, each])).values()].filter(
    ({ identity }) => !bodies.has(identity),
  )
  if (fresh.length > 0) {
    const objects = fresh.map(({ facts }) => ({ receivableId: randomUUID() as string, ...facts }))
    const records = await anchorRecords(tx, env, RECEIVABLE_EVENT_TYPE, timestamp, objects)
    const made = records.map((record) => canonicalize(record))
    for (const [index, { identity }] of fresh.entries()) bodies.set(identity, made[index] ?? '')
    const ids = records.map(({ receivableId }) => receivableId)
    await insertReceivables(tx, scope, fresh, ids, made)
    await recordUnits(
      tx,
      ids.map((id) => ({ ...scope, family: 'securitisation' as const, unitKey: `receivable/${id}` })),
    )
  }
  return named.map(({ identity }) => bodies.get(identity) ?? '')
}

async function insertReceivables(
  tx: Knex,
  { organisationId, env }: ReceivableScope,
  fresh: readonly { name: ReceivableName; identity: string }[],
  ids: readonly string[],
  bodies: readonly string[],
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO receivables (id, organisation_id, env, ref, identity, body)
     SELECT t.id, ?, ?, t.ref, t.identity, t.body
     FROM unnest(?::uuid[], ?::text[], ?::text[], ?::text[]) AS t(id, ref, identity, body)`,
    [
      organisationId,
      env,
      ids,
      fresh.map(({ name }) => name.documentNumber),
      fresh.map(({ identity }) => identity),
      bodies,
    ],
  )
}

const EVIDENCE_COLUMNS = columns<{ receivableId: string; body: string }>({ receivableId: 'id', body: 'body' })

/** Finds receivables by id, document number, or reference in a pool. Returns at most two; two mean that `ref` is ambiguous. */
export async function findReceivables(
  db: Knex,
  { organisationId, env }: ReceivableScope,
  ref: string,
): Promise<{ receivableId: string; body: string }[]> {
  return await query(
    db,
    typed`SELECT ${EVIDENCE_COLUMNS} FROM receivables
     WHERE organisation_id = ? AND env = ? AND (ref = ? OR id = ?::uuid OR id = ANY(ARRAY(
       SELECT m.receivable_id FROM pools p JOIN pool_members m ON m.pool_id = p.id AND m.reference = ?
       WHERE p.organisation_id = ? AND p.env = ?)))
     ORDER BY created_at, id LIMIT 2`,
    [organisationId, env, ref, isUuid(ref) ? ref : null, ref, organisationId, env],
  )
}

/** By the organisation's own registrations among these records. */
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

/** `scope` null means the whole installation. */
export async function hasConsumerKey(db: Knex, scope: ReceivableScope | null): Promise<boolean> {
  const [row] = await query<{ exists: boolean }>(
    db,
    `SELECT EXISTS (SELECT 1 FROM consumer_keys WHERE revoked_at IS NULL
       AND (?::bigint IS NULL OR (organisation_id = ? AND env = ?))) AS exists`,
    [scope?.organisationId ?? null, scope?.organisationId ?? null, scope?.env ?? null],
  )
  return row?.exists === true
}
