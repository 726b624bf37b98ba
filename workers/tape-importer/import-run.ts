import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Outbox } from '#shared/platform/broker/outbox.ts'
import type { FileMapping } from '#shared/risk/colending/imports/file-mapping.ts'
import { type Import, MAX_SKIPPED_LISTED, type Progress } from '#shared/risk/colending/imports/import.ts'
import { lockImport, storeProgress } from '#shared/risk/colending/imports/import-store.ts'
import { insertErrors, insertRows, knownLoans } from '#shared/risk/colending/imports/row-store.ts'
import { rowWriter } from '#shared/risk/colending/imports/row-text.ts'
import { loanRefHash } from '#shared/risk/colending/mapping.ts'
import type { Found, FoundRow } from './interpret.ts'
import { type Reached, type ReadyRecord, type ReadyRow, sortBatch } from './sort-batch.ts'

const BATCH = 500

/** Another worker continues the import, or it has ended. */
export class TakenOverError extends Error {}

/**
 * Stores the records of an import, 500 per transaction, while the next ones are read. Skips records that an earlier
 * worker stored.
 */
export class ImportRun {
  readonly #outbox: Pick<Outbox, 'run'>
  readonly #import: Import
  readonly #loanRefKey: KeyObject
  readonly #afterBatch: () => Promise<void>
  #reached: Reached
  #recordNo: number
  /** number of records that earlier workers stored */
  readonly #storedBefore: number
  #seen = 0
  #waiting: ReadyRecord[] = []
  #storing: Promise<void> = Promise.resolve()
  /** columns that no row uses, set by the header */
  #unmapped: readonly string[]
  #writer: { mapping: FileMapping; loanColumn: string | null; write: ReturnType<typeof rowWriter> } | undefined

  constructor(outbox: Pick<Outbox, 'run'>, found: Import, loanRefKey: Buffer, afterBatch: () => Promise<void>) {
    this.#outbox = outbox
    this.#import = found
    this.#loanRefKey = createSecretKey(loanRefKey)
    this.#afterBatch = afterBatch
    this.#reached = { progress: found.progress, mapping: found.mapping }
    this.#recordNo = found.recordNo
    this.#storedBefore = found.recordNo
    this.#unmapped = found.progress.unmapped
  }

  get recordNo(): number {
    return this.#recordNo
  }

  get progress(): Progress {
    return this.#reached.progress
  }

  /** @throws TakenOverError, or FileRefusedError after too many errors; also those of the previous batch */
  async take(chunk: readonly Found[]): Promise<void> {
    for (const found of chunk) {
      this.#seen += 1
      if (this.#seen <= this.#storedBefore) continue
      this.#waiting.push(this.#ready(found))
      if (this.#waiting.length === BATCH) await this.#storeNext()
    }
  }

  /** @throws as `take` */
  async store(): Promise<void> {
    await this.#storeNext()
    await this.#storing
  }

  async settled(): Promise<void> {
    await Promise.allSettled([this.#storing])
  }

  async #storeNext(): Promise<void> {
    await this.#storing
    const batch = this.#waiting
    if (batch.length === 0) return
    this.#waiting = []
    this.#storing = this.#store(batch)
    // The next await of `#storing` reports the error.
    this.#storing.catch(() => {})
  }

  #ready(found: Found): ReadyRecord {
    if (found.kind === 'header') this.#unmapped = found.unmapped
    return found.kind === 'row' ? this.#readyRow(found) : found
  }

  #readyRow({ line, mapping, row, loan, sourceRecordSha256 }: FoundRow): ReadyRow {
    const loanRef = loanRefHash(this.#loanRefKey, this.#import.organisationId, row.loanRef)
    const name = loanRef.toString('hex')
    const { write, loanColumn } = this.#writerOf(mapping)
    const written = write({ loan, line, loanRef: name, sourceRecordSha256, unread: row.unread })
    return {
      kind: 'row',
      line,
      loanRef,
      loan: name,
      loanColumn,
      errors: row.errors,
      observations: loan.observations,
      ...written,
    }
  }

  #writerOf(mapping: FileMapping) {
    if (this.#writer?.mapping !== mapping) {
      const loanColumn = mapping.columns.find(({ target }) => target === 'loanRef')?.from ?? null
      this.#writer = { mapping, loanColumn, write: rowWriter(this.#import, mapping, this.#unmapped) }
    }
    return this.#writer
  }

  async #store(batch: readonly ReadyRecord[]): Promise<void> {
    const { id } = this.#import
    const loans = batch.flatMap((record) => (record.kind === 'row' ? [record.loanRef] : []))
    const recordNo = this.#recordNo + batch.length
    this.#reached = await this.#outbox.run(async (tx) => {
      if (!(await lockImport(tx, id, this.#recordNo))) throw new TakenOverError('another worker continues this import')
      const known = loans.length === 0 ? new Set<string>() : await knownLoans(tx, id, loans)
      const { rows, listed, ...reached } = sortBatch(this.#reached, batch, known)
      await insertRows(tx, id, rows)
      await insertErrors(tx, id, listedSoFar(this.#reached.progress), listed)
      await storeProgress(tx, id, { recordNo, ...reached })
      return reached
    })
    this.#recordNo = recordNo
    await this.#afterBatch()
  }
}

/** Errors and skipped records share one numbering. */
function listedSoFar({ errors, skipped }: Progress): number {
  return errors + Math.min(skipped, MAX_SKIPPED_LISTED)
}
