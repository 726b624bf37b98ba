import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { type EntityIdentifiers, isPersonsPan, panOf } from './entity.ts'

export interface Entity {
  id: string
  vei: string
  isPerson: boolean
  erasedAt: Date | null
}

const COLUMNS = columns<Entity>({ id: 'e.id', vei: 'e.vei', isPerson: 'e.is_person', erasedAt: 'e.erased_at' })

/** Also finds former identifiers. */
export async function findEntity(db: Knex, owner: Owner, vei: string): Promise<Entity | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM entities e WHERE e.organisation_id = ? AND e.env = ?
       AND (e.vei = ? OR EXISTS (SELECT FROM entity_aliases a WHERE a.entity_id = e.id AND a.vei = ?))
     ORDER BY e.vei = ? DESC LIMIT 1`,
    [owner.organisationId, owner.env, vei, vei, vei],
  )
  return row
}

/** Only of this organisation. */
export async function findByIdentifier(
  db: Knex,
  owner: Owner,
  type: string,
  value: string,
): Promise<Entity | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM entities e JOIN entity_identifiers i ON i.entity_id = e.id
     WHERE e.organisation_id = ? AND e.env = ? AND i.type = ? AND i.value = ? LIMIT 1`,
    [owner.organisationId, owner.env, type, value],
  )
  return row
}

export async function findByIdentifierValue(db: Knex, owner: Owner, value: string): Promise<Entity | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM entities e JOIN entity_identifiers i ON i.entity_id = e.id
     WHERE e.organisation_id = ? AND e.env = ? AND i.value = ? ORDER BY i.type, e.vei LIMIT 1`,
    [owner.organisationId, owner.env, value],
  )
  return row
}

const MICROS_COLUMNS = columns<{ micros: number }>({ micros: '(extract(epoch FROM e.created_at) * 1000000)::bigint' })

/** Newest first. `before` is the last row of the previous page: its time in microseconds and its id. */
export async function listEntities(
  db: Knex,
  owner: Owner,
  before: { micros: number; id: string } | null,
  limit: number,
): Promise<(Entity & { micros: number })[]> {
  return await query(
    db,
    typed`SELECT ${COLUMNS}, ${MICROS_COLUMNS} FROM entities e
     WHERE e.organisation_id = ? AND e.env = ?
       AND (?::bigint IS NULL OR (e.created_at, e.id) < ('epoch'::timestamptz + ? * interval '1 microsecond', ?::uuid))
     ORDER BY e.created_at DESC, e.id DESC LIMIT ?`,
    [owner.organisationId, owner.env, before?.micros ?? null, before?.micros ?? null, before?.id ?? null, limit],
  )
}

/**
 * Creates a missing entity. An entity known by a company number gets the identifier of its PAN, and the former one
 * becomes an alias.
 */
export async function ensureEntity(
  tx: Knex.Transaction,
  owner: Owner,
  { vei, aliases }: { vei: string; aliases: readonly string[] },
  identifiers: EntityIdentifiers,
  tiers: Readonly<Record<string, string>>,
): Promise<Entity> {
  await execute(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, ?))', [
    `${owner.env}/entities`,
    owner.organisationId,
  ])
  const isPerson = isPersonsPan(panOf(identifiers))
  let entity = await findEntity(tx, owner, vei)
  for (const alias of aliases) entity ??= await findEntity(tx, owner, alias)
  if (!entity) {
    entity = { id: randomUUID(), vei, isPerson, erasedAt: null }
    await execute(tx, 'INSERT INTO entities (id, organisation_id, env, vei, is_person) VALUES (?, ?, ?, ?, ?)', [
      entity.id,
      owner.organisationId,
      owner.env,
      vei,
      isPerson,
    ])
  } else if (aliases.includes(entity.vei)) {
    await execute(tx, 'UPDATE entities SET vei = ?, is_person = ? WHERE id = ?', [vei, isPerson, entity.id])
    entity = { ...entity, vei, isPerson }
  }
  await execute(
    tx,
    'INSERT INTO entity_aliases (entity_id, vei) SELECT ?, vei FROM unnest(?::text[]) AS t(vei) ON CONFLICT DO NOTHING',
    [entity.id, [...aliases]],
  )
  const known = Object.entries(identifiers).flatMap(([type, value]) =>
    typeof value === 'string' ? [{ type, value }] : [],
  )
  await execute(
    tx,
    `INSERT INTO entity_identifiers (entity_id, type, value, tier)
     SELECT ?, type, value, tier FROM unnest(?::text[], ?::text[], ?::text[]) AS t(type, value, tier)
     ON CONFLICT (entity_id, type, value) DO UPDATE SET tier = excluded.tier
     WHERE excluded.tier = 'REGISTRY_VERIFIED'`,
    [
      entity.id,
      known.map(({ type }) => type),
      known.map(({ value }) => value),
      known.map(({ type }) => tiers[type] ?? 'SELF_DECLARED'),
    ],
  )
  return entity
}

const IDENTIFIERS_COLUMNS = columns<{ type: string; value: string; tier: string }>()('type, value, tier')

export async function listIdentifiers(
  db: Knex,
  entityId: string,
): Promise<{ type: string; value: string; tier: string }[]> {
  return await query(
    db,
    typed`SELECT ${IDENTIFIERS_COLUMNS} FROM entity_identifiers WHERE entity_id = ? ORDER BY type, value LIMIT 200`,
    [entityId],
  )
}

export async function listAliases(db: Knex, entityId: string): Promise<string[]> {
  const rows = await query<{ vei: string }>(db, 'SELECT vei FROM entity_aliases WHERE entity_id = ? ORDER BY vei', [
    entityId,
  ])
  return rows.map(({ vei }) => vei)
}

export type EntityRecordKind = 'VERIFICATION' | 'MEMBERSHIP' | 'OWNERS' | 'PASSPORT' | 'ERASURE'

/** `sealedValues` are the values of its commitments. */
export interface EntityRecord {
  id: string
  body: string
  sealedValues: string | null
  /** SHA-256 of each register's response, by the key of the check */
  answerHashes?: Readonly<Record<string, string | null>> | null
}

export async function insertEntityRecord(
  tx: Knex,
  entityId: string,
  kind: EntityRecordKind,
  record: EntityRecord & { subject?: Buffer; state?: string },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO entity_records (id, entity_id, kind, body, sealed_values, subject, state, answer_hashes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      record.id,
      entityId,
      kind,
      record.body,
      record.sealedValues,
      record.subject ?? null,
      record.state ?? null,
      record.answerHashes ? JSON.stringify(record.answerHashes) : null,
    ],
  )
}

const ENTITY_RECORD_COLUMNS = columns<EntityRecord>()('id, body, sealed_values, answer_hashes')

export async function listEntityRecords(
  db: Knex,
  entityId: string,
  kind: EntityRecordKind,
  limit = 100,
): Promise<EntityRecord[]> {
  return await query(
    db,
    typed`SELECT ${ENTITY_RECORD_COLUMNS} FROM entity_records
     WHERE entity_id = ? AND kind = ? ORDER BY seq DESC LIMIT ?`,
    [entityId, kind, limit],
  )
}

/** `subject` is the keyed hash of the organisation. */
export async function lastMembership(tx: Knex.Transaction, entityId: string, subject: Buffer): Promise<string | null> {
  await execute(tx, 'SELECT 1 FROM entities WHERE id = ? FOR UPDATE', [entityId])
  const [row] = await query<{ state: string }>(
    tx,
    `SELECT state FROM entity_records WHERE entity_id = ? AND kind = 'MEMBERSHIP' AND subject = ?
     ORDER BY seq DESC LIMIT 1`,
    [entityId, subject],
  )
  return row?.state ?? null
}

/** The anchored objects remain and reveal nothing. Returns the number of deleted values. */
export async function eraseEntity(tx: Knex.Transaction, entityId: string): Promise<number> {
  const identifiers = await execute(tx, 'DELETE FROM entity_identifiers WHERE entity_id = ?', [entityId])
  const sealed = await execute(
    tx,
    'UPDATE entity_records SET sealed_values = NULL WHERE entity_id = ? AND sealed_values IS NOT NULL',
    [entityId],
  )
  const keys = await execute(tx, 'DELETE FROM entity_keys WHERE entity_id = ?', [entityId])
  await execute(tx, 'UPDATE entities SET erased_at = now() WHERE id = ?', [entityId])
  return identifiers + sealed + keys
}

const SUMMARY_COLUMNS = columns<{ id: string; identifiers: { type: string; value: string }[]; newest: string | null }>({
  id: 'e.id',
  identifiers: `coalesce((SELECT json_agg(json_build_object('type', i.type, 'value', i.value) ORDER BY i.type, i.value)
     FROM entity_identifiers i WHERE i.entity_id = e.id), '[]')`,
  newest: `(SELECT r.body FROM entity_records r WHERE r.entity_id = e.id AND r.kind = 'VERIFICATION'
     ORDER BY r.seq DESC LIMIT 1)`,
})

/** Returns identifiers and the newest verification, as anchored, by entity. */
export async function summariseEntities(
  db: Knex,
  ids: readonly string[],
): Promise<Map<string, { identifiers: { type: string; value: string }[]; newest: string | null }>> {
  const rows = await query(db, typed`SELECT ${SUMMARY_COLUMNS} FROM entities e WHERE e.id = ANY(?::uuid[])`, [[...ids]])
  return new Map(rows.map(({ id, ...summary }) => [id, summary]))
}

/** Returns those of the identifiers that belong to an entity of the owner. */
export async function listKnownEntities(db: Knex, owner: Owner, veis: readonly string[]): Promise<string[]> {
  if (veis.length === 0) return []
  const rows = await query<{ vei: string }>(
    db,
    'SELECT vei FROM entities WHERE organisation_id = ? AND env = ? AND vei = ANY(?::text[])',
    [owner.organisationId, owner.env, [...veis]],
  )
  return rows.map(({ vei }) => vei)
}
