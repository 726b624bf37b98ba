import type { Knex } from 'knex'
import { tapeUploaded } from '../../contracts/evidence-requested.ts'
import type { ImportState } from '../colending/imports/import.ts'
import { admitUpload, findSameImport, lockContent, type NewUpload } from '../colending/imports/upload-store.ts'
import { instant, type OperationDeps } from './deps.ts'

/** A file whose bytes are all stored. */
export interface UploadedFile {
  sha256: Buffer
  bytes: number
}

/**
 * Makes an upload an import and has it read; or names the import that the same bytes became before, by whatever key.
 * Then the upload is the caller's to discard.
 */
export async function receiveImport(
  tx: Knex.Transaction,
  upload: NewUpload,
  file: UploadedFile,
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<{ importId: string; status: ImportState }> {
  await lockContent(tx, upload, file.sha256)
  const same = await findSameImport(tx, upload, file.sha256)
  if (same) return { importId: same.id, status: same.status }
  await admitUpload(tx, upload.id, { ...file, receivedAt: instant(deps.now()) })
  await deps.enqueue(tapeUploaded, { importId: upload.id })
  return { importId: upload.id, status: 'RECEIVED' }
}
