import type { Knex } from 'knex'
import type { Owner } from '../../../jobs/job.ts'
import { columns, execute, query, typed } from '../../../platform/database/sql.ts'
import type { FileStyle, ImportKind, ImportState } from './import.ts'

export interface NewUpload extends Owner {
  id: string
  kind: ImportKind
  style: FileStyle
  requestedMapping: string | null
  /** null if the file has no name */
  fileName: string | null
}

/** An upload is invisible until it is complete. */
export async function insertUpload(db: Knex, upload: NewUpload): Promise<void> {
  await execute(
    db,
    'INSERT INTO imports (id, organisation_id, env, kind, style, requested_mapping, file_name) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [upload.id, upload.organisationId, upload.env, upload.kind, upload.style, upload.requestedMapping, upload.fileName],
  )
}

/** `n` counts from 0; `data` is sealed. */
export async function insertChunk(db: Knex, importId: string, n: number, data: Buffer): Promise<void> {
  await execute(db, 'INSERT INTO import_chunks (import_id, n, data) VALUES (?, ?, ?)', [importId, n, data])
}

export async function readChunks(db: Knex, importId: string, from: number, limit: number): Promise<Buffer[]> {
  const rows = await query<{ data: Buffer }>(
    db,
    'SELECT data FROM import_chunks WHERE import_id = ? AND n >= ? AND n < ? ORDER BY n',
    [importId, from, from + limit],
  )
  return rows.map(({ data }) => data)
}

export async function deleteChunks(db: Knex, importId: string): Promise<void> {
  await execute(db, 'DELETE FROM import_chunks WHERE import_id = ?', [importId])
}

export async function discardUpload(db: Knex, importId: string): Promise<void> {
  await execute(db, "DELETE FROM imports WHERE id = ? AND state = 'UPLOADING'", [importId])
}

/** Serialises uploads of the same file. */
export async function lockContent(tx: Knex, { organisationId, env }: Owner, sha256: Buffer): Promise<void> {
  await execute(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 13))', [
    `${organisationId}/${env}/${sha256.toString('hex')}`,
  ])
}

const SAME_IMPORT_COLUMNS = columns<{ id: string; status: ImportState }>({ id: 'id', status: 'state' })

/** Returns an import of the same bytes, style and mapping. Expired imports do not count. */
export async function findSameImport(
  tx: Knex,
  upload: NewUpload,
  sha256: Buffer,
): Promise<{ id: string; status: ImportState } | undefined> {
  const rows = await query(
    tx,
    typed`SELECT ${SAME_IMPORT_COLUMNS} FROM imports WHERE organisation_id = ? AND env = ? AND kind = ? AND sha256 = ?
       AND style = ? AND (requested_mapping IS NOT DISTINCT FROM ? OR mapping = ?)
       AND failure->>'code' IS DISTINCT FROM 'EXPIRED'
     ORDER BY seq LIMIT 1`,
    [
      upload.organisationId,
      upload.env,
      upload.kind,
      sha256,
      upload.style,
      upload.requestedMapping,
      upload.requestedMapping,
    ],
  )
  return rows[0]
}

/** `receivedAt` is ISO 8601. */
export async function admitUpload(
  tx: Knex,
  importId: string,
  file: { sha256: Buffer; bytes: number; receivedAt: string },
): Promise<void> {
  await execute(
    tx,
    "UPDATE imports SET state = 'RECEIVED', sha256 = ?, bytes = ?, received_at = ? WHERE id = ? AND state = 'UPLOADING'",
    [file.sha256, file.bytes, file.receivedAt, importId],
  )
}

/** Deletes uploads that were incomplete for an hour. Returns their number. */
export async function sweepUploads(db: Knex, limit: number): Promise<number> {
  return await execute(
    db,
    `DELETE FROM imports WHERE id IN (
       SELECT id FROM imports WHERE state = 'UPLOADING' AND created_at < now() - interval '1 hour' LIMIT ?)`,
    [limit],
  )
}
