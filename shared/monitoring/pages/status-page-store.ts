import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Logo } from './logo.ts'

export interface StatusPage {
  projectId: number
  token: string
  title: string
  /** separated by spaces; empty shows every check */
  tags: string
  /** below the title; may be empty */
  intro: string
  isGrouped: boolean
  /** shows down checks whose incident is acknowledged as in progress */
  showsProgress: boolean
  /** changes with the picture; null without one */
  logoDigest: string | null
}

const COLUMNS = columns<StatusPage>()('project_id, token, title, tags, intro, is_grouped, shows_progress, logo_digest')

export async function findStatusPage(db: Knex, projectId: number): Promise<StatusPage | null> {
  const rows = await query(db, typed`SELECT ${COLUMNS} FROM status_pages WHERE project_id = ?`, [projectId])
  return rows[0] ?? null
}

export async function findStatusPageByToken(db: Knex, token: string): Promise<StatusPage | null> {
  const rows = await query(db, typed`SELECT ${COLUMNS} FROM status_pages WHERE token = ?`, [token])
  return rows[0] ?? null
}

/** Token and logo of an existing page stay. */
export async function saveStatusPage(db: Knex, page: Omit<StatusPage, 'logoDigest'>): Promise<void> {
  await execute(
    db,
    `INSERT INTO status_pages (project_id, token, title, tags, intro, is_grouped, shows_progress)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (project_id) DO UPDATE SET
       title = EXCLUDED.title, tags = EXCLUDED.tags, intro = EXCLUDED.intro, is_grouped = EXCLUDED.is_grouped,
       shows_progress = EXCLUDED.shows_progress`,
    [page.projectId, page.token, page.title, page.tags, page.intro, page.isGrouped, page.showsProgress],
  )
}

export async function deleteStatusPage(db: Knex, projectId: number): Promise<void> {
  await execute(db, 'DELETE FROM status_pages WHERE project_id = ?', [projectId])
}

const LOGO_COLUMNS = columns<Logo>({ type: 'logo_type', bytes: 'logo' })

export async function findStatusLogo(db: Knex, token: string): Promise<Logo | null> {
  const rows = await query(db, typed`SELECT ${LOGO_COLUMNS} FROM status_pages WHERE token = ? AND logo IS NOT NULL`, [
    token,
  ])
  return rows[0] ?? null
}

export async function saveStatusLogo(db: Knex, projectId: number, logo: Logo | null): Promise<boolean> {
  const digest = logo && createHash('sha256').update(logo.bytes).digest('hex').slice(0, 12)
  const changed = await execute(
    db,
    'UPDATE status_pages SET logo = ?, logo_type = ?, logo_digest = ? WHERE project_id = ?',
    [logo?.bytes ?? null, logo?.type ?? null, digest, projectId],
  )
  return changed > 0
}
