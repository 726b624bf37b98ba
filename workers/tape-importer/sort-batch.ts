import {
  type ListedLine,
  MAX_ERRORS,
  MAX_SKIPPED_LISTED,
  type Observation,
  type Progress,
  type RowCode,
} from '#shared/risk/colending/imports/import.ts'
import type { NewRow } from '#shared/risk/colending/imports/row-store.ts'
import type { WrittenRow } from '#shared/risk/colending/imports/row-text.ts'
import { FileRefusedError } from './csv-records.ts'
import type { Found, FoundRow } from './interpret.ts'

/** A record to store. Of a loan it contains only the values that are stored. */
export type ReadyRecord = Exclude<Found, FoundRow> | ReadyRow

export interface ReadyRow extends WrittenRow {
  kind: 'row'
  line: number
  /** keyed hash; `loan` is the same in hex */
  loanRef: Buffer
  loan: string
  loanColumn: string | null
  errors: readonly { column: string | null; code: RowCode }[]
  observations: readonly Observation[]
}

/** State of an import after the last stored batch. */
export interface Reached {
  progress: Progress
  /** null until the header was read */
  mapping: string | null
}

export interface SortedBatch extends Reached {
  rows: NewRow[]
  listed: ListedLine[]
}

/**
 * Returns the progress after a batch, and the rows and errors to store. Does not change its arguments, so that the
 * transaction can be retried. @throws FileRefusedError for too many errors
 */
export function sortBatch(before: Reached, batch: readonly ReadyRecord[], stored: ReadonlySet<string>): SortedBatch {
  const sorted: SortedBatch = { ...structuredClone(before), rows: [], listed: [] }
  const { progress, listed } = sorted
  const known = new Set(stored)
  for (const record of batch) {
    if (record.kind !== 'persons') progress.records += 1
    switch (record.kind) {
      case 'header':
        sorted.mapping = record.mapping
        progress.unmapped = record.unmapped
        break
      // Not a record, so it does not count as one.
      case 'persons':
        progress.persons += record.count
        break
      case 'skipped':
        progress.skipped += 1
        if (progress.skipped <= MAX_SKIPPED_LISTED) listed.push(record.listed)
        break
      case 'rejected':
        reject(record.errors, sorted)
        break
      case 'row':
        if (known.has(record.loan)) reject([duplicateOf(record)], sorted)
        else accept(record, sorted)
        known.add(record.loan)
    }
    if (progress.errors > MAX_ERRORS) throw new FileRefusedError('TOO_MANY_ERRORS', listed.at(-1)?.line ?? 0)
  }
  return sorted
}

function reject(errors: readonly ListedLine[], { progress, listed }: SortedBatch): void {
  progress.rejected += 1
  progress.errors += errors.length
  listed.push(...errors)
}

function accept(row: ReadyRow, { progress, rows, listed }: SortedBatch): void {
  const { line, loanRef, body, unread, hash, errors, observations } = row
  for (const observation of observations) {
    progress.observations[observation] = (progress.observations[observation] ?? 0) + 1
  }
  progress.errors += errors.length
  listed.push(...errors.map((error) => ({ line, ...error })))
  rows.push({ n: progress.accepted++, loanRef, hash, body, unread })
}

function duplicateOf({ line, loanColumn }: ReadyRow): ListedLine {
  return { line, column: loanColumn, code: 'DUPLICATE_IN_FILE' }
}
