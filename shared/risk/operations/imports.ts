import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { tapeUploaded } from '../../contracts/worker-messages.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { type Failure, hasEnded, type Import, type ImportState, type Progress } from '../colending/imports/import.ts'
import { completeImport, failImport, readBlockRoots } from '../colending/imports/import-store.ts'
import type { ImportRow } from '../colending/imports/row.ts'
import { listErrors, listHashes, listRows } from '../colending/imports/row-store.ts'
import { rowText } from '../colending/imports/row-text.ts'
import { BLOCK_ROWS, blockStart, proveRow, type RowTree, treeRoot } from '../colending/imports/row-tree.ts'
import {
  admitUpload,
  deleteChunks,
  findSameImport,
  lockContent,
  type NewUpload,
} from '../colending/imports/upload-store.ts'
import { errorView } from '../colending/imports/view.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { csvLine } from '../evidence/values.ts'
import { recordUnits } from '../metering/store.ts'
import { instant, type OperationDeps } from './deps.ts'

export interface UploadedFile {
  sha256: Buffer
  bytes: number
}

/** Returns the import of equal bytes; then the caller discards the upload. */
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

const EVENT_TYPE = 'colending.import_finished'
const ROWS_OF_UNIT = 1_000

type EndDeps = Pick<OperationDeps, 'enqueue' | 'now'>

/** Anchors the root of the rows, meters units, and emits an event. */
export async function finishImport(
  tx: Knex.Transaction,
  found: Import,
  progress: Progress,
  tree: RowTree,
  deps: EndDeps,
): Promise<void> {
  const { id, organisationId, env } = found
  const timestamp = instant(deps.now())
  const facts = { importRecordId: randomUUID(), rows: tree.range.size, root: treeRoot(tree) }
  const record = await anchorRecord(tx, env, EVENT_TYPE, timestamp, facts)
  await completeImport(tx, id, {
    hasErrors: progress.errors > 0,
    progress,
    record: canonicalize(record),
    blockRoots: Buffer.concat(tree.blockRoots),
  })
  await deleteChunks(tx, id)
  const units = Array.from({ length: Math.ceil(progress.accepted / ROWS_OF_UNIT) }, (_, n) => `import/${id}/${n}`)
  const family = 'colending' as const
  if (units.length > 0)
    await recordUnits(
      tx,
      units.map((unitKey) => ({ organisationId, env, family, unitKey })),
    )
  await emitFinished(tx, found, ['importId', 'status', 'counts', 'record'], timestamp, deps)
}

export async function abandonImport(
  tx: Knex.Transaction,
  found: Import,
  failure: Failure,
  progress: Progress | null,
  deps: EndDeps,
): Promise<void> {
  await failImport(tx, found.id, failure, progress)
  await emitFinished(tx, found, ['importId', 'status', 'failure'], instant(deps.now()), deps)
}

async function emitFinished(
  tx: Knex.Transaction,
  { id, organisationId, env }: Import,
  fields: string[],
  occurredAt: string,
  { enqueue }: EndDeps,
): Promise<void> {
  await recordEvent(tx, enqueue, { env, organisationId, type: EVENT_TYPE, dealId: id, fields, occurredAt })
}

export const IMPORT_ERROR_COLUMNS = ['line', 'column', 'code', 'message'] as const

/** More than the maximum number of errors of an import: ten thousand plus those of the last row. */
const MAX_ERRORS = 20_000

/** Returns the errors as CSV (RFC 4180), without rows while the import is running. */
export async function exportImportErrors(db: Knex, found: Import): Promise<string> {
  const page = { after: null, limit: MAX_ERRORS, isSkipped: false }
  const errors = hasEnded(found.state) ? await listErrors(db, found.id, page) : []
  const lines = errors.map(errorView).map(({ line, column, code, message }) => csvLine([line, column, code, message]))
  return [csvLine(IMPORT_ERROR_COLUMNS), ...lines, ''].join('\r\n')
}

export interface RowProof {
  row: ImportRow
  inclusion: { index: number; size: number; path: string[] }
  record: { root: string; rows: number }
}

/** Returns undefined if the row does not exist. */
export async function proveImportRow(db: Knex, found: Import, index: number): Promise<RowProof | undefined> {
  const size = found.progress.accepted
  if (found.record === null || index >= size) return undefined
  const [stored] = await listRows(db, found.id, { from: index, limit: 1 })
  if (!stored) return undefined
  const blocks = new Map<number, Buffer[]>()
  for (const from of new Set([blockStart(index), blockStart(size - 1)])) {
    blocks.set(from, await listHashes(db, found.id, { from, limit: BLOCK_ROWS }))
  }
  const path = proveRow(index, size, await readBlockRoots(db, found.id), blocks)
  return {
    // The worker stored both as valid JSON.
    row: JSON.parse(rowText(stored, found.progress.unmapped)),
    inclusion: { index, size, path },
    record: JSON.parse(found.record),
  }
}
