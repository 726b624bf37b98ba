import { hash } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { DomainError } from '../../errors.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

/** Equal keys of other organisations and environments are different keys. */
export interface KeyScope {
  organisationId: number
  env: string
  key: string
}

/** A replay repeats it byte for byte. */
export interface StoredAnswer {
  status: number
  headers: Record<string, string>
  body: string
  /** identifies personal data in the body that may have to be erased earlier; see `forgetAnswers` */
  erasureDigest?: Buffer
}

export type KeyState =
  | { state: 'free' }
  | { state: 'in-progress'; retryAfterSeconds: number }
  | { state: 'reused' }
  | { state: 'answered'; answer: StoredAnswer }

/** After this time another process may use the key. */
const LEASE_SECONDS = 60

const KEY_STATE_COLUMNS = columns<{
  locked: boolean
  fingerprint: Buffer | null
  status: number | null
  headers: Record<string, string> | null
  body: string | null
  leaseSeconds: number | null
}>()(`
  l.locked, k.fingerprint, k.status, k.headers, k.body,
  extract(epoch FROM k.lease_until - now())::float8 AS leaseSeconds`)

/** With the advisory lock an equal request sees `in-progress` at once and does not wait for the commit. */
export async function decryptKey(tx: Knex.Transaction, scope: KeyScope, fingerprint: Buffer): Promise<KeyState> {
  const rows = await query(
    tx,
    typed`SELECT ${KEY_STATE_COLUMNS} FROM (SELECT pg_try_advisory_xact_lock(hashtextextended(?, ?)) AS locked) l
     LEFT JOIN idempotency_keys k ON k.organisation_id = ? AND k.env = ? AND k.key = ? AND k.expires_at > now()`,
    [`${scope.env}/${scope.key}`, scope.organisationId, scope.organisationId, scope.env, scope.key],
  )
  const row = rows[0]
  if (!row?.locked) return { state: 'in-progress', retryAfterSeconds: 1 }
  if (row.fingerprint === null) return { state: 'free' }
  if (!row.fingerprint.equals(fingerprint)) return { state: 'reused' }
  if ((row.leaseSeconds ?? 0) > 0) return { state: 'in-progress', retryAfterSeconds: 1 }
  if (row.status === null || row.body === null) return { state: 'free' }
  return { state: 'answered', answer: { status: row.status, headers: row.headers ?? {}, body: row.body } }
}

export interface IdempotentRequest {
  scope: KeyScope
  fingerprint: Buffer
}

/**
 * In the transaction of the effect; undefined to execute. @throws IdempotencyInProgressError,
 * IdempotencyKeyReusedError
 */
export async function findReplay(
  tx: Knex.Transaction,
  { scope, fingerprint }: IdempotentRequest,
): Promise<StoredAnswer | undefined> {
  const known = await decryptKey(tx, scope, fingerprint)
  if (known.state === 'in-progress') throw new IdempotencyInProgressError(known.retryAfterSeconds)
  if (known.state === 'reused') throw new IdempotencyKeyReusedError()
  if (known.state === 'free') return undefined
  return { ...known.answer, headers: { ...known.answer.headers, 'Idempotent-Replayed': 'true' } }
}

/** In the transaction of the effect. `retentionDays` is 1 by default. */
export async function storeAnswer(
  tx: Knex.Transaction,
  scope: KeyScope,
  fingerprint: Buffer,
  answer: StoredAnswer,
  retentionDays = 1,
): Promise<void> {
  await execute(tx, `${UPSERT} VALUES (?, ?, ?, ?, NULL, ?, ?, ?, now() + make_interval(days => ?), ?) ${REPLACE}`, [
    scope.organisationId,
    scope.env,
    scope.key,
    fingerprint,
    answer.status,
    JSON.stringify(answer.headers),
    answer.body,
    retentionDays,
    answer.erasureDigest ?? null,
  ])
}

/** Until the lease ends, an equal request must wait; then `provisional` is the response. */
export async function leaseKey(
  tx: Knex.Transaction,
  scope: KeyScope,
  fingerprint: Buffer,
  provisional: StoredAnswer,
): Promise<void> {
  await execute(
    tx,
    `${UPSERT} VALUES (?, ?, ?, ?, now() + make_interval(secs => ?), ?, ?, ?, now() + interval '1 day', NULL) ${REPLACE}`,
    [
      scope.organisationId,
      scope.env,
      scope.key,
      fingerprint,
      LEASE_SECONDS,
      provisional.status,
      JSON.stringify(provisional.headers),
      provisional.body,
    ],
  )
}

const UPSERT = `INSERT INTO idempotency_keys
  (organisation_id, env, key, fingerprint, lease_until, status, headers, body, expires_at, erasure_digest)`

// A row may remain from an expired key, or from a request whose lease ended.
const REPLACE = `ON CONFLICT (organisation_id, env, key) DO UPDATE SET fingerprint = excluded.fingerprint,
  lease_until = excluded.lease_until, status = excluded.status, headers = excluded.headers, body = excluded.body,
  expires_at = excluded.expires_at, erasure_digest = excluded.erasure_digest, created_at = now()`

/** Called before the provisional response is sent. Returns false when a worker completed the key first. */
export async function settleKey(db: Knex, scope: KeyScope): Promise<boolean> {
  const rowCount = await execute(
    db,
    `UPDATE idempotency_keys SET lease_until = NULL
     WHERE organisation_id = ? AND env = ? AND key = ? AND lease_until IS NOT NULL`,
    [scope.organisationId, scope.env, scope.key],
  )
  return rowCount === 1
}

export async function releaseKey(db: Knex, scope: KeyScope): Promise<void> {
  await execute(
    db,
    'DELETE FROM idempotency_keys WHERE organisation_id = ? AND env = ? AND key = ? AND lease_until > now()',
    [scope.organisationId, scope.env, scope.key],
  )
}

export async function pruneKeys(db: Knex, limit: number): Promise<number> {
  const rowCount = await execute(
    db,
    `DELETE FROM idempotency_keys WHERE ctid IN
       (SELECT ctid FROM idempotency_keys WHERE expires_at < now() ORDER BY expires_at LIMIT ?)`,
    [limit],
  )
  return rowCount
}

export class IdempotencyKeyRequiredError extends DomainError {
  readonly code = 'IDEMPOTENCY_KEY_REQUIRED'
}

class IdempotencyInProgressError extends DomainError {
  readonly code = 'IDEMPOTENCY_IN_PROGRESS'
  override readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number) {
    super('the first request with this key is still in progress; retry later')
    this.retryAfterSeconds = retryAfterSeconds
  }
}

class IdempotencyKeyReusedError extends DomainError {
  readonly code = 'IDEMPOTENCY_KEY_REUSED'
  constructor() {
    super('this key was used for another path or body; use a new key')
  }
}

const KEY = /^[\x21-\x7e]{1,255}$/

/** 1-255 visible ASCII characters (docs/spec/risk-signals.md#idempotency). */
export function isIdempotencyKey(text: string): boolean {
  return KEY.test(text)
}

/** SHA-256 of method, route, path parameters and canonical body (docs/spec/risk-signals.md#idempotency). */
export function requestFingerprint(request: {
  method: string
  route: string
  params: Readonly<Record<string, string>>
  body: unknown
}): Buffer {
  const { method, route, params, body } = request
  return hash('sha256', canonicalize({ method: method.toUpperCase(), route, params: { ...params }, body }), 'buffer')
}
