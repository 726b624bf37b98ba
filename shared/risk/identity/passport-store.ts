import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Passport } from './passport.ts'

export const STATUS_LIST_SIZE = 131_072
/** A new list is started when half is used, so that a random free index is found quickly. */
const FULL = STATUS_LIST_SIZE / 2

const COLUMNS = columns<Passport>()(`
  p.id, p.subject_id, p.body, p.credential, p.expires_at, p.revoked_at, p.revocation`)

/** Creates a list if all are full. Locked until the transaction ends. */
export async function takeStatusList(tx: Knex.Transaction, env: ApiEnv): Promise<number> {
  await execute(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`${env}/status-lists`])
  const [open] = await query<{ n: number }>(
    tx,
    `UPDATE status_lists SET used = used + 1
     WHERE n = (SELECT n FROM status_lists WHERE env = ? AND used < ? ORDER BY n DESC LIMIT 1) RETURNING n`,
    [env, FULL],
  )
  if (open) return open.n
  const [begun] = await query<{ n: number }>(tx, 'INSERT INTO status_lists (env, used) VALUES (?, 1) RETURNING n', [
    env,
  ])
  if (!begun) throw new Error('no status list was begun')
  return begun.n
}

export async function reserveIndex(tx: Knex, listN: number, idx: number): Promise<boolean> {
  const taken = await execute(
    tx,
    'INSERT INTO status_list_entries (list_n, idx) VALUES (?, ?) ON CONFLICT DO NOTHING',
    [listN, idx],
  )
  return taken === 1
}

export async function insertPassport(
  tx: Knex,
  made: Omit<Passport, 'revokedAt' | 'revocation'> & { listN: number; idx: number },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO passports (id, subject_id, list_n, idx, body, credential, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [made.id, made.subjectId, made.listN, made.idx, made.body, made.credential, made.expiresAt],
  )
}

export async function listPassports(db: Knex, subjectId: string): Promise<Passport[]> {
  return await query(
    db,
    typed`SELECT ${COLUMNS} FROM passports p WHERE p.subject_id = ? ORDER BY p.seq DESC LIMIT 200`,
    [subjectId],
  )
}

export interface ListedPassport extends Passport {
  seq: number
  subjectRef: string
}

const LISTED_COLUMNS = columns<Omit<ListedPassport, keyof Passport>>({ seq: 'p.seq', subjectRef: 's.ref' })

const OF_ORGANISATION = typed`SELECT ${COLUMNS}, ${LISTED_COLUMNS}
  FROM passports p JOIN identity_subjects s ON s.id = p.subject_id WHERE s.organisation_id = ? AND s.env = ?`

/** Newest first. `before` is of the last row of the previous page. */
export async function listAllPassports(
  db: Knex,
  owner: Owner,
  before: number | null,
  limit: number,
): Promise<ListedPassport[]> {
  return await query(db, typed`${OF_ORGANISATION} AND (?::bigint IS NULL OR p.seq < ?) ORDER BY p.seq DESC LIMIT ?`, [
    owner.organisationId,
    owner.env,
    before,
    before,
    limit,
  ])
}

export async function findOwnPassport(db: Knex, owner: Owner, id: string): Promise<ListedPassport | undefined> {
  const [row] = await query(db, typed`${OF_ORGANISATION} AND p.id = ?`, [owner.organisationId, owner.env, id])
  return row
}

export async function lockPassport(tx: Knex.Transaction, owner: Owner, id: string): Promise<Passport | undefined> {
  const [row] = await query(
    tx,
    typed`SELECT ${COLUMNS} FROM passports p JOIN identity_subjects s ON s.id = p.subject_id
     WHERE p.id = ? AND s.organisation_id = ? AND s.env = ? FOR UPDATE OF p`,
    [id, owner.organisationId, owner.env],
  )
  return row
}

/** Of any organisation, subject or business. */
export async function isPassportRevoked(db: Knex, id: string): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT FROM passports WHERE id = ? AND revoked_at IS NOT NULL
     UNION ALL SELECT FROM entity_passports WHERE id = ? AND revoked_at IS NOT NULL`,
    [id, id],
  )
  return rows.length > 0
}

export async function setRevoked(
  tx: Knex,
  id: string,
  revoked: { at: Date; revocation: string; sealedReason: string | null },
): Promise<void> {
  await execute(tx, 'UPDATE passports SET revoked_at = ?, revocation = ?, sealed_reason = ? WHERE id = ?', [
    revoked.at,
    revoked.revocation,
    revoked.sealedReason,
    id,
  ])
}

/** Returns the revoked positions. */
export async function readStatusList(db: Knex, n: number): Promise<{ env: ApiEnv; revoked: number[] } | undefined> {
  const [list] = await query<{ env: ApiEnv }>(db, 'SELECT env FROM status_lists WHERE n = ?', [n])
  if (!list) return undefined
  const rows = await query<{ idx: number }>(
    db,
    `SELECT idx FROM passports WHERE list_n = ? AND revoked_at IS NOT NULL
     UNION ALL SELECT idx FROM entity_passports WHERE list_n = ? AND revoked_at IS NOT NULL ORDER BY idx`,
    [n, n],
  )
  return { env: list.env, revoked: rows.map(({ idx }) => idx) }
}
