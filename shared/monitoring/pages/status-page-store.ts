import type { Knex } from 'knex'
import { execute, query } from '../../platform/database/sql.ts'

export interface StatusPage {
  projectId: number
  /** the public name of the page */
  token: string
  title: string
  /** separated by spaces; empty shows every check */
  tags: string
  /** a sentence or two below the title; may be empty */
  intro: string
  /** whether checks stand under their first tag */
  isGrouped: boolean
}

const COLUMNS = 'project_id AS "projectId", token, title, tags, intro, is_grouped AS "isGrouped"'

/** The public page of a project; null when it has none. */
export async function findStatusPage(db: Knex, projectId: number): Promise<StatusPage | null> {
  const rows = await query<StatusPage>(db, `SELECT ${COLUMNS} FROM status_pages WHERE project_id = ?`, [projectId])
  return rows[0] ?? null
}

export async function findStatusPageByToken(db: Knex, token: string): Promise<StatusPage | null> {
  const rows = await query<StatusPage>(db, `SELECT ${COLUMNS} FROM status_pages WHERE token = ?`, [token])
  return rows[0] ?? null
}

/** Publishes or changes the page. The token of a page that exists stays. */
export async function saveStatusPage(db: Knex, page: StatusPage): Promise<void> {
  await execute(
    db,
    `INSERT INTO status_pages (project_id, token, title, tags, intro, is_grouped) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (project_id) DO UPDATE SET
       title = EXCLUDED.title, tags = EXCLUDED.tags, intro = EXCLUDED.intro, is_grouped = EXCLUDED.is_grouped`,
    [page.projectId, page.token, page.title, page.tags, page.intro, page.isGrouped],
  )
}

export async function deleteStatusPage(db: Knex, projectId: number): Promise<void> {
  await execute(db, 'DELETE FROM status_pages WHERE project_id = ?', [projectId])
}
