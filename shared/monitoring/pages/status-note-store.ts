import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'

export interface StatusNote {
  uuid: string
  title: string
  text: string
  at: Micros
  /** null until its cause has ended */
  endedAt: Micros | null
}

/** The next note deletes the oldest. */
export const MAX_NOTES = 100

const COLUMNS = columns<StatusNote>()(`
  uuid, title, body AS text, ${microsOf('at')} AS at, ${microsOf('ended_at')} AS endedAt`)

export async function listStatusNotes(db: Knex, projectId: number): Promise<StatusNote[]> {
  return await query(db, typed`SELECT ${COLUMNS} FROM status_notes WHERE project_id = ? ORDER BY id DESC LIMIT ?`, [
    projectId,
    MAX_NOTES,
  ])
}

export async function insertStatusNote(
  tx: Knex,
  projectId: number,
  { title, text }: Pick<StatusNote, 'title' | 'text'>,
): Promise<void> {
  await execute(tx, 'INSERT INTO status_notes (project_id, title, body) VALUES (?, ?, ?)', [projectId, title, text])
  await execute(
    tx,
    `DELETE FROM status_notes WHERE project_id = ? AND id <= (
       SELECT id FROM status_notes WHERE project_id = ? ORDER BY id DESC OFFSET ? LIMIT 1)`,
    [projectId, projectId, MAX_NOTES],
  )
}

/** Returns its title; null if there is no such open note. */
export async function endStatusNote(tx: Knex, projectId: number, uuid: string): Promise<string | null> {
  const rows = await query<{ title: string }>(
    tx,
    'UPDATE status_notes SET ended_at = now() WHERE project_id = ? AND uuid = ? AND ended_at IS NULL RETURNING title',
    [projectId, uuid],
  )
  return rows[0]?.title ?? null
}

/** Returns the title; null if the note does not exist. */
export async function deleteStatusNote(tx: Knex, projectId: number, uuid: string): Promise<string | null> {
  const rows = await query<{ title: string }>(
    tx,
    'DELETE FROM status_notes WHERE project_id = ? AND uuid = ? RETURNING title',
    [projectId, uuid],
  )
  return rows[0]?.title ?? null
}
