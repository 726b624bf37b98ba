import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { CodeRow, SentCodes } from './contact-codes.ts'

interface SentAt {
  at: Micros
  isOwn: boolean
  isToAddress: boolean
  organisationId: number | null
}

const SENT_COLUMNS = columns<SentAt>({
  at: microsOf('k.created_at'),
  isOwn: 'k.user_id = ?',
  isToAddress: 'k.address_digest = ANY(?::bytea[])',
  organisationId: 'o.organisation_id',
})

/**
 * Returns the codes that count against the limits. Of the person's organisations, that with the most codes counts. The
 * lock makes concurrent requests wait, also those of other persons for the same address.
 */
export async function lockSentCodes(tx: Knex, userId: number, addressDigests: readonly Buffer[]): Promise<SentCodes> {
  await execute(tx, `SELECT pg_advisory_xact_lock(hashtextextended('contact codes', 12))`)
  const rows = await query(
    tx,
    typed`SELECT ${SENT_COLUMNS} FROM contact_codes k
     LEFT JOIN memberships o ON o.user_id = k.user_id
       AND o.organisation_id IN (SELECT organisation_id FROM memberships WHERE user_id = ?)
     WHERE k.created_at > now() - interval '1 day'
       AND (k.user_id = ? OR k.address_digest = ANY(?::bytea[]) OR o.organisation_id IS NOT NULL)`,
    [userId, addressDigests, userId, userId, addressDigests],
  )
  const unique = (chosen: readonly SentAt[]) => [...new Set(chosen.map(({ at }) => at))]
  const organisations = Map.groupBy(rows, ({ organisationId }) => organisationId)
  organisations.delete(null)
  const busiest = [...organisations.values()].toSorted((a, b) => b.length - a.length)[0] ?? []
  return {
    person: unique(rows.filter(({ isOwn }) => isOwn)),
    address: unique(rows.filter(({ isToAddress }) => isToAddress)),
    organisation: busiest.map(({ at }) => at),
  }
}

export interface NewCode {
  id: string
  userId: number
  methodId: string
  addressDigest: Buffer
  codeDigest: Buffer
}

/** Replaces earlier codes of the method. */
export async function insertCode(tx: Knex, code: NewCode): Promise<void> {
  await endCodes(tx, code.methodId)
  await execute(
    tx,
    `INSERT INTO contact_codes (id, user_id, method_id, address_digest, code_digest, created_at)
     VALUES (?::uuid, ?, ?::uuid, ?, ?, clock_timestamp())`,
    [code.id, code.userId, code.methodId, code.addressDigest, code.codeDigest],
  )
}

export async function endCodes(tx: Knex, methodId: string): Promise<void> {
  await execute(tx, 'UPDATE contact_codes SET used_at = now() WHERE method_id = ?::uuid AND used_at IS NULL', [
    methodId,
  ])
}

const CODE_COLUMNS = columns<CodeRow & { id: string }>()(`
  id, code_digest AS digest, ${microsOf('created_at')} AS createdAt, tries, used_at IS NOT NULL AS isUsed`)

/** Locks the newest code and counts a try. The row is that before the try. */
export async function tryNewestCode(tx: Knex, methodId: string): Promise<(CodeRow & { id: string }) | null> {
  const [row] = await query(
    tx,
    typed`SELECT ${CODE_COLUMNS} FROM contact_codes WHERE method_id = ?::uuid ORDER BY created_at DESC LIMIT 1 FOR UPDATE`,
    [methodId],
  )
  if (row) await execute(tx, 'UPDATE contact_codes SET tries = tries + 1 WHERE id = ?::uuid', [row.id])
  return row ?? null
}

/** Returns false if the code was sent, replaced or deleted. */
export async function claimCode(db: Knex, id: string): Promise<boolean> {
  const sql = 'UPDATE contact_codes SET sent_at = now() WHERE id = ?::uuid AND sent_at IS NULL AND used_at IS NULL'
  return (await execute(db, sql, [id])) === 1
}

export async function pruneCodes(db: Knex): Promise<void> {
  await execute(db, `DELETE FROM contact_codes WHERE created_at < now() - interval '2 days'`)
}
