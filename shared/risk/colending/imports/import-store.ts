import type { Knex } from 'knex'
import type { Owner } from '../../../jobs/job.ts'
import { columns, execute, query, typed } from '../../../platform/database/sql.ts'
import { type Failure, type Import, type ImportKind, NO_PROGRESS, type Progress } from './import.ts'

const COLUMNS = columns<Import>()(`
  id, seq, organisation_id, env, kind, style, requested_mapping, mapping, state, sha256, bytes, file_name, received_at,
  progress, record_no, failure, record`)

/** For workers. Undefined also if it is not received yet. */
export async function findImport(db: Knex, id: string): Promise<Import | undefined> {
  const rows = await query(db, typed`SELECT ${COLUMNS} FROM imports WHERE id = ? AND state <> 'UPLOADING'`, [id])
  return rows.map(withProgress)[0]
}

/** Counts exist once the first records are stored. */
function withProgress(found: Import): Import {
  return { ...found, progress: { ...NO_PROGRESS, ...found.progress } }
}

export async function findOwnImport(db: Knex, owner: Owner, kind: ImportKind, id: string): Promise<Import | undefined> {
  const rows = await query(
    db,
    typed`SELECT ${COLUMNS} FROM imports WHERE id = ? AND organisation_id = ? AND env = ? AND kind = ? AND state <> 'UPLOADING'`,
    [id, owner.organisationId, owner.env, kind],
  )
  return rows.map(withProgress)[0]
}

/** Newest first. `kind` null is both; `before` is the seq of the last row. */
export async function listImports(
  db: Knex,
  owner: Owner,
  page: { kind: ImportKind | null; before: number | null; limit: number },
): Promise<Import[]> {
  const rows = await query(
    db,
    typed`SELECT ${COLUMNS} FROM imports WHERE organisation_id = ? AND env = ? AND state <> 'UPLOADING'
       AND (?::text IS NULL OR kind = ?) AND (?::bigint IS NULL OR seq < ?) ORDER BY seq DESC LIMIT ?`,
    [owner.organisationId, owner.env, page.kind, page.kind, page.before, page.before, page.limit],
  )
  return rows.map(withProgress)
}

/** Returns false when it has ended, or another worker has continued it. */
export async function lockImport(tx: Knex.Transaction, id: string, recordNo: number): Promise<boolean> {
  const rows = await query(
    tx,
    "SELECT 1 FROM imports WHERE id = ? AND state IN ('RECEIVED', 'RUNNING') AND record_no = ? FOR UPDATE",
    [id, recordNo],
  )
  return rows.length === 1
}

export async function storeProgress(
  tx: Knex.Transaction,
  id: string,
  reached: { recordNo: number; progress: Progress; mapping: string | null },
): Promise<void> {
  await execute(tx, "UPDATE imports SET state = 'RUNNING', record_no = ?, progress = ?, mapping = ? WHERE id = ?", [
    reached.recordNo,
    JSON.stringify(reached.progress),
    reached.mapping,
    id,
  ])
}

export async function completeImport(
  tx: Knex.Transaction,
  id: string,
  end: { hasErrors: boolean; progress: Progress; record: string; blockRoots: Buffer },
): Promise<void> {
  await execute(
    tx,
    `UPDATE imports SET state = ?, progress = ?, record = ?, block_roots = ?, finished_at = now() WHERE id = ?`,
    [
      end.hasErrors ? 'COMPLETED_WITH_ERRORS' : 'COMPLETED',
      JSON.stringify(end.progress),
      end.record,
      end.blockRoots,
      id,
    ],
  )
}

/** Also deletes its rows. `progress` null keeps the stored one. */
export async function failImport(
  tx: Knex.Transaction,
  id: string,
  failure: Failure,
  progress: Progress | null,
): Promise<void> {
  await execute(
    tx,
    `UPDATE imports SET state = 'FAILED', failure = ?, progress = coalesce(?::jsonb, progress), finished_at = now()
     WHERE id = ?`,
    [JSON.stringify(failure), progress === null ? null : JSON.stringify(progress), id],
  )
  await execute(tx, 'DELETE FROM import_rows WHERE import_id = ?', [id])
  await execute(tx, 'DELETE FROM import_chunks WHERE import_id = ?', [id])
}

/** Locks imports that have not ended within a day. Skips rows that another transaction has locked. */
export async function lockAbandonedImports(tx: Knex.Transaction, limit: number): Promise<Import[]> {
  return await query(
    tx,
    typed`SELECT ${COLUMNS} FROM imports WHERE state IN ('RECEIVED', 'RUNNING') AND created_at < now() - interval '1 day'
     ORDER BY created_at LIMIT ? FOR UPDATE SKIP LOCKED`,
    [limit],
  )
}

export async function readBlockRoots(db: Knex, id: string): Promise<Buffer> {
  const rows = await query<{ roots: Buffer | null }>(db, 'SELECT block_roots AS roots FROM imports WHERE id = ?', [id])
  return rows[0]?.roots ?? Buffer.alloc(0)
}
