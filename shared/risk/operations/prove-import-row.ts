import type { Knex } from 'knex'
import type { Import } from '../colending/imports/import.ts'
import { readBlockRoots } from '../colending/imports/import-store.ts'
import type { ImportRow } from '../colending/imports/row.ts'
import { listHashes, listRows } from '../colending/imports/row-store.ts'
import { rowText } from '../colending/imports/row-text.ts'
import { BLOCK_ROWS, blockStart, proveRow } from '../colending/imports/row-tree.ts'

/** A row with its path to the root that the record of its import names. */
export interface RowProof {
  row: ImportRow
  inclusion: { index: number; size: number; path: string[] }
  record: { root: string; rows: number }
}

/** Proves a row of an import that has completed. @returns undefined when there is no such row */
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
    // Both were stored by the worker in the form they are given.
    row: JSON.parse(rowText(stored, found.progress.unmapped)),
    inclusion: { index, size, path },
    record: JSON.parse(found.record),
  }
}
