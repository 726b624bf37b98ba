import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

export interface Pool {
  id: string
  name: string
  dealId: string | null
  size: number
  built: number
}

export async function insertPool(tx: Knex, owner: Owner, pool: Pick<Pool, 'id' | 'name' | 'dealId'>): Promise<void> {
  await execute(tx, 'INSERT INTO pools (id, organisation_id, env, name, deal_id, size) VALUES (?, ?, ?, ?, ?, 0)', [
    pool.id,
    owner.organisationId,
    owner.env,
    pool.name,
    pool.dealId,
  ])
}

const POOL_COLUMNS = columns<Pool>({ id: 'id', name: 'name', dealId: 'deal_id', size: 'size', built: 'built' })

/** `lock` holds until the transaction ends. */
export async function findPool(db: Knex, owner: Owner, id: string, lock = false): Promise<Pool | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${POOL_COLUMNS} FROM pools WHERE id = ? AND organisation_id = ? AND env = ?${lock ? ' FOR UPDATE' : ''}`,
    [id, owner.organisationId, owner.env],
  )
  return row
}

/** Does not lock the pool's row, so that receivables can be added at the same time. */
export async function lockBuilding(tx: Knex.Transaction, poolId: string): Promise<void> {
  await execute(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 14))', [poolId])
}

export async function listPools(db: Knex, owner: Owner, limit: number): Promise<Pool[]> {
  return await query(
    db,
    typed`SELECT ${POOL_COLUMNS} FROM pools WHERE organisation_id = ? AND env = ?
     ORDER BY seq DESC LIMIT ?`,
    [owner.organisationId, owner.env, limit],
  )
}

export async function takenReferences(tx: Knex, poolId: string, references: readonly string[]): Promise<string[]> {
  const rows = await query<{ reference: string }>(
    tx,
    'SELECT reference FROM pool_members WHERE pool_id = ? AND reference = ANY(?::text[])',
    [poolId, [...references]],
  )
  return rows.map(({ reference }) => reference)
}

export async function takenDocuments(tx: Knex, poolId: string, identities: readonly string[]): Promise<string[]> {
  const rows = await query<{ identity: string }>(
    tx,
    'SELECT identity FROM pool_members WHERE pool_id = ? AND identity = ANY(?::text[])',
    [poolId, [...identities]],
  )
  return rows.map(({ identity }) => identity)
}

export interface NewMember {
  reference: string
  sealedItem: string
  /** supplier, financial year, type and number */
  identity: string
  documentDate: string
}

/** The pool must be locked. */
export async function addMembers(tx: Knex, poolId: string, members: readonly NewMember[]): Promise<void> {
  await execute(
    tx,
    `INSERT INTO pool_members (pool_id, place, reference, sealed_item, identity, document_date)
     SELECT p.id, p.size + t.nth - 1, t.reference, t.item, t.identity, t.date FROM pools p,
       unnest(?::text[], ?::text[], ?::text[], ?::date[]) WITH ORDINALITY AS t(reference, item, identity, date, nth)
     WHERE p.id = ?`,
    [
      members.map(({ reference }) => reference),
      members.map(({ sealedItem }) => sealedItem),
      members.map(({ identity }) => identity),
      members.map(({ documentDate }) => documentDate),
      poolId,
    ],
  )
  await execute(tx, 'UPDATE pools SET size = size + ? WHERE id = ?', [members.length, poolId])
}

/** `YYYY-MM-DD`; null if no member has a date. */
export async function earliestDocument(db: Knex, poolId: string): Promise<string | null> {
  const [row] = await query<{ date: string | null }>(
    db,
    `SELECT to_char(min(document_date), 'YYYY-MM-DD') AS date FROM pool_members WHERE pool_id = ?`,
    [poolId],
  )
  return row?.date ?? null
}

const UNBUILT_MEMBERS_COLUMNS = columns<{ place: number; sealedItem: string }>()('place, sealed_item')

/** In pool order. */
export async function membersWithoutEvidence(
  tx: Knex,
  pool: Pool,
  limit: number,
): Promise<{ place: number; sealedItem: string }[]> {
  return await query(
    tx,
    typed`SELECT ${UNBUILT_MEMBERS_COLUMNS} FROM pool_members WHERE pool_id = ? AND place >= ?
     ORDER BY place LIMIT ?`,
    [pool.id, pool.built, limit],
  )
}

export async function storeBuilt(
  tx: Knex,
  poolId: string,
  built: readonly { place: number; receivableId: string; payloadSha256: string; body: string }[],
): Promise<void> {
  await execute(
    tx,
    `UPDATE pool_members m SET receivable_id = t.id, payload_sha256 = decode(t.hash, 'hex'), body = t.body
     FROM unnest(?::int[], ?::uuid[], ?::text[], ?::text[]) AS t(place, id, hash, body)
     WHERE m.pool_id = ? AND m.place = t.place`,
    [
      built.map(({ place }) => place),
      built.map(({ receivableId }) => receivableId),
      built.map(({ payloadSha256 }) => payloadSha256),
      built.map(({ body }) => body),
      poolId,
    ],
  )
  await execute(tx, 'UPDATE pools SET built = built + ? WHERE id = ?', [built.length, poolId])
}

const MEMBERS_COLUMNS = columns<{ place: number; reference: string; receivableId: string; body: string }>()(`
  place, reference, receivable_id, body`)

/** In pool order. */
export async function listMembers(
  db: Knex,
  poolId: string,
  from: number,
  limit: number,
): Promise<{ place: number; reference: string; receivableId: string; body: string }[]> {
  return await query(
    db,
    typed`SELECT ${MEMBERS_COLUMNS} FROM pool_members
     WHERE pool_id = ? AND place >= ? AND body IS NOT NULL ORDER BY place LIMIT ?`,
    [poolId, from, limit],
  )
}

/** Excludes `to`. */
export async function memberHashes(db: Knex, poolId: string, from: number, to: number): Promise<Buffer[]> {
  const rows = await query<{ hash: Buffer }>(
    db,
    `SELECT payload_sha256 AS hash FROM pool_members WHERE pool_id = ? AND place >= ? AND place < ? ORDER BY place`,
    [poolId, from, to],
  )
  return rows.map(({ hash }) => hash)
}

const MEMBER_COLUMNS = columns<{ place: number; body: string }>({ place: 'place', body: 'body' })

/** Undefined if the pool does not contain the receivable. */
export async function findMember(
  db: Knex,
  poolId: string,
  receivableId: string,
): Promise<{ place: number; body: string } | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${MEMBER_COLUMNS} FROM pool_members WHERE pool_id = ? AND receivable_id = ? ORDER BY place LIMIT 1`,
    [poolId, receivableId],
  )
  return row
}

export interface PoolCut {
  id: string
  poolId: string
  size: number
  chunks: Buffer
  body: string
}

export async function insertCut(tx: Knex, cut: PoolCut): Promise<void> {
  await execute(tx, 'INSERT INTO pool_cuts (id, pool_id, size, chunks, body) VALUES (?, ?, ?, ?, ?)', [
    cut.id,
    cut.poolId,
    cut.size,
    cut.chunks,
    cut.body,
  ])
}

const POOL_CUT_COLUMNS = columns<PoolCut>()('c.id, c.pool_id, c.size, c.chunks, c.body')

export async function findCut(db: Knex, owner: Owner, id: string): Promise<PoolCut | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${POOL_CUT_COLUMNS} FROM pool_cuts c JOIN pools p ON p.id = c.pool_id
     WHERE c.id = ? AND p.organisation_id = ? AND p.env = ?`,
    [id, owner.organisationId, owner.env],
  )
  return row
}

/** `size` null means any. */
export async function newestCut(db: Knex, poolId: string, size: number | null = null): Promise<PoolCut | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${POOL_CUT_COLUMNS} FROM pool_cuts c
     WHERE pool_id = ? AND size = coalesce(?::int, size) ORDER BY seq DESC LIMIT 1`,
    [poolId, size],
  )
  return row
}

export async function listCuts(db: Knex, poolId: string, limit: number): Promise<string[]> {
  const rows = await query<{ body: string }>(
    db,
    'SELECT body FROM pool_cuts WHERE pool_id = ? ORDER BY seq DESC LIMIT ?',
    [poolId, limit],
  )
  return rows.map(({ body }) => body)
}

const CUT_DATES_COLUMNS = columns<{ poolId: string; cutOffDate: string }>({
  poolId: 'pool_id',
  cutOffDate: "(body::jsonb)->>'cutOffDate'",
})

/** Returns the cut-off date of the newest cut by pool; pools without a cut are absent. */
export async function newestCutDates(db: Knex, poolIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await query(
    db,
    typed`SELECT DISTINCT ON (pool_id) ${CUT_DATES_COLUMNS} FROM pool_cuts
     WHERE pool_id = ANY(?::uuid[]) ORDER BY pool_id, seq DESC`,
    [[...poolIds]],
  )
  return new Map(rows.map(({ poolId, cutOffDate }) => [poolId, cutOffDate]))
}
