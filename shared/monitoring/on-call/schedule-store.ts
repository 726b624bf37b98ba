import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { may, roles } from '../../tenancy/accounts/roles.ts'
import type { Micros } from '../../time.ts'
import type { ScheduleFields } from './schedule.ts'

export interface StoredSchedule extends ScheduleFields {
  id: number
  uuid: string
  organisationId: number
  projectId: number
  projectUuid: string
  version: number
  /** when another person comes on call, as computed at the last recording of shifts; null before the first one */
  nextChangeAt: Micros | null
  changedAt: Micros
}

type Row = Omit<StoredSchedule, keyof ScheduleFields> & { name: string; document: Omit<ScheduleFields, 'name'> }

const COLUMNS = columns<Row>()(`
  s.id, s.uuid, s.organisation_id, s.project_id, p.uuid AS projectUuid, s.name, s.document, s.version,
  ${microsOf('s.next_change_at')} AS nextChangeAt, ${microsOf('s.changed_at')} AS changedAt`)
const TABLES = 'schedules s JOIN projects p ON p.id = s.project_id'

const RESPONDER_ROLES = roles.filter((role) => may(role, 'respond'))

function scheduleOf({ document, ...row }: Row): StoredSchedule {
  return { ...document, ...row }
}

/** Lists the schedules of a project, then the shared ones of other projects of its organisation. */
export async function listSchedules(
  db: Knex,
  { id, organisationId }: { id: number; organisationId: number },
): Promise<StoredSchedule[]> {
  const rows = await query(
    db,
    typed`SELECT ${COLUMNS} FROM ${TABLES}
     WHERE s.organisation_id = ? AND (s.project_id = ? OR (s.document->>'shared')::boolean)
     ORDER BY s.project_id <> ?, s.id`,
    [organisationId, id, id],
  )
  return rows.map(scheduleOf)
}

export async function listAllSchedules(db: Knex, organisationIds: readonly number[]): Promise<StoredSchedule[]> {
  const sql = typed`SELECT ${COLUMNS} FROM ${TABLES} WHERE s.organisation_id = ANY(?::bigint[]) ORDER BY s.id`
  return (await query(db, sql, [organisationIds])).map(scheduleOf)
}

export async function countSchedules(db: Knex, projectId: number): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM schedules WHERE project_id = ?'
  const [row] = await query<{ count: number }>(db, sql, [projectId])
  return row?.count ?? 0
}

/** Returns a schedule of the project. */
export async function findSchedule(db: Knex, projectId: number, uuid: string): Promise<StoredSchedule | null> {
  const sql = typed`SELECT ${COLUMNS} FROM ${TABLES} WHERE s.project_id = ? AND s.uuid = ?::uuid`
  const [row] = await query(db, sql, [projectId, uuid])
  return row ? scheduleOf(row) : null
}

export async function findScheduleById(db: Knex, id: number): Promise<StoredSchedule | null> {
  const [row] = await query(db, typed`SELECT ${COLUMNS} FROM ${TABLES} WHERE s.id = ?`, [id])
  return row ? scheduleOf(row) : null
}

/** Locks the row until the end of the transaction, and waits for other writers. */
export async function lockSchedule(tx: Knex, id: number): Promise<StoredSchedule | null> {
  const [row] = await query(tx, typed`SELECT ${COLUMNS} FROM ${TABLES} WHERE s.id = ? FOR UPDATE OF s`, [id])
  return row ? scheduleOf(row) : null
}

/** Locks the row as `lockSchedule`, but returns null at once if another writer has locked it. */
export async function tryLockSchedule(tx: Knex, id: number): Promise<StoredSchedule | null> {
  const sql = typed`SELECT ${COLUMNS} FROM ${TABLES} WHERE s.id = ? FOR UPDATE OF s SKIP LOCKED`
  const [row] = await query(tx, sql, [id])
  return row ? scheduleOf(row) : null
}

/** `uuid` is the identity that a document gives. Returns the id; null if the project has a schedule of this name. */
export async function insertSchedule(
  tx: Knex,
  project: { id: number; organisationId: number },
  { name, ...document }: ScheduleFields,
  uuid: string | null = null,
): Promise<number | null> {
  const [row] = await query<{ id: number }>(
    tx,
    `INSERT INTO schedules (uuid, organisation_id, project_id, name, document)
     VALUES (coalesce(?::uuid, gen_random_uuid()), ?, ?, ?, ?::jsonb) ON CONFLICT (project_id, name) DO NOTHING RETURNING id`,
    [uuid, project.organisationId, project.id, name, JSON.stringify(document)],
  )
  return row?.id ?? null
}

/** Returns false if the project has another schedule of this name. */
export async function updateSchedule(tx: Knex, id: number, { name, ...document }: ScheduleFields): Promise<boolean> {
  const changed = await execute(
    tx,
    `UPDATE schedules s SET name = ?, document = ?::jsonb, version = version + 1, changed_at = now()
     WHERE id = ? AND NOT EXISTS
       (SELECT FROM schedules o WHERE o.project_id = s.project_id AND o.name = ? AND o.id <> s.id)`,
    [name, JSON.stringify(document), id, name],
  )
  return changed === 1
}

/** Marks a schedule as changed, after a change outside its row, for example of an override. */
export async function markScheduleChanged(tx: Knex, id: number): Promise<void> {
  await execute(tx, 'UPDATE schedules SET changed_at = now() WHERE id = ?', [id])
}

export async function deleteSchedule(tx: Knex, id: number): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM schedules WHERE id = ?', [id])) === 1
}

const RESPONDERS_DIGEST = `coalesce((
  SELECT md5(string_agg(u.email, ' ' ORDER BY u.email)) FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.organisation_id = s.organisation_id AND m.role = ANY(?::text[])), '')`

/**
 * Lists ids of schedules whose shifts must be recorded: another person comes on call, nothing is recorded yet, or the
 * responders of the organisation have changed since.
 */
export async function dueSchedules(db: Knex, now: Micros, limit: number): Promise<number[]> {
  const rows = await query<{ id: number }>(
    db,
    `SELECT s.id FROM schedules s
     WHERE s.next_change_at IS NULL OR s.next_change_at <= ${timestampOf('?::bigint')} OR s.members_digest <> ${RESPONDERS_DIGEST}
     ORDER BY s.next_change_at LIMIT ?`,
    [now, RESPONDER_ROLES, limit],
  )
  return rows.map(({ id }) => id)
}

export async function saveNextChange(tx: Knex, id: number, at: Micros): Promise<void> {
  await execute(
    tx,
    `UPDATE schedules s SET next_change_at = ${timestampOf('?::bigint')}, members_digest = ${RESPONDERS_DIGEST},
       next_notice_at = NULL WHERE id = ?`,
    [at, RESPONDER_ROLES, id],
  )
}

/** A member of an organisation with the right `respond`. */
export interface Responder {
  organisationId: number
  userId: number
  userUuid: string
  email: string
  /** may be empty */
  name: string
}

const RESPONDER_COLUMNS = columns<Responder>()(`
  m.organisation_id, u.id AS userId, u.uuid AS userUuid, u.email, u.name`)

export async function listResponders(db: Knex, organisationIds: readonly number[]): Promise<Responder[]> {
  return await query(
    db,
    typed`SELECT ${RESPONDER_COLUMNS} FROM memberships m JOIN users u ON u.id = m.user_id
     WHERE m.organisation_id = ANY(?::bigint[]) AND m.role = ANY(?::text[]) ORDER BY u.email`,
    [organisationIds, RESPONDER_ROLES],
  )
}

/** Replaces the previous address of a person in the schedules, overrides, swaps and shifts of all organisations. */
export async function replaceAddress(tx: Knex, userId: number, before: string, after: string): Promise<void> {
  const rows = await query(
    tx,
    typed`SELECT ${COLUMNS} FROM ${TABLES}
     WHERE s.organisation_id IN (SELECT organisation_id FROM memberships WHERE user_id = ?) ORDER BY s.id FOR UPDATE OF s`,
    [userId],
  )
  const renamed = (person: string) => (person === before ? after : person)
  for (const { id, document } of rows) {
    const layers = document.layers.map((layer) => ({ ...layer, people: layer.people.map(renamed) }))
    const fallback = document.fallback === null ? null : renamed(document.fallback)
    const changed = JSON.stringify({ ...document, layers, fallback })
    await execute(tx, 'UPDATE schedules SET document = ?::jsonb WHERE id = ?', [changed, id])
  }
  const ids = rows.map(({ id }) => id)
  for (const [table, column] of ADDRESS_COLUMNS) {
    await execute(tx, `UPDATE ${table} SET ${column} = ? WHERE ${column} = ? AND schedule_id = ANY(?::bigint[])`, [
      after,
      before,
      ids,
    ])
  }
}

const ADDRESS_COLUMNS = [
  ['overrides', 'person'],
  ['overrides', 'replaces'],
  ['swaps', 'requester'],
  ['swaps', 'offered_to'],
  ['swaps', 'taker'],
  ['shifts', 'person'],
] as const
