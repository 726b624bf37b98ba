import { hash } from 'node:crypto'
import type { FileMapping } from '#shared/risk/colending/imports/file-mapping.ts'
import {
  HEADER_WITHIN,
  type Header,
  headerFault,
  isTotals,
  recogniseHeader,
} from '#shared/risk/colending/imports/header.ts'
import type { HeaderFault, ListedLine } from '#shared/risk/colending/imports/import.ts'
import { type MappedRow, mapRow } from '#shared/risk/colending/imports/map-row.ts'
import { type FileRecord, FileRefusedError } from './csv-records.ts'

export type Found =
  | { kind: 'header'; mapping: string; unmapped: string[] }
  | { kind: 'skipped'; listed: ListedLine }
  | { kind: 'rejected'; errors: ListedLine[] }
  | FoundRow
  | { kind: 'persons'; count: number }

export interface FoundRow {
  kind: 'row'
  line: number
  mapping: FileMapping
  row: MappedRow
  sourceRecordSha256: string
  loan: NonNullable<MappedRow['loan']>
}

/** @throws FileRefusedError when there is no header */
export async function* interpretTape(
  records: AsyncIterable<readonly FileRecord[]>,
  mappings: readonly FileMapping[],
): AsyncGenerator<Found[]> {
  let header: Header | undefined
  let seen = 0
  let lastLine = 1
  let closest: { line: number; fault: HeaderFault } | undefined
  const refuse = () => new FileRefusedError('FORMAT_UNKNOWN', closest?.line ?? lastLine, closest?.fault)
  const read = (record: FileRecord): Found => {
    lastLine = record.line
    if (header) return readRecord(header, record)
    header = recogniseHeader(mappings, record.cells)
    if (header) return { kind: 'header', mapping: header.mapping.id, unmapped: header.unmapped }
    const fault = headerFault(mappings, record.cells)
    if (fault && (!closest || fault.missing.length < closest.fault.missing.length)) {
      closest = { line: record.line, fault }
    }
    if (++seen === HEADER_WITHIN) throw refuse()
    return { kind: 'skipped', listed: { line: record.line, column: null, code: 'BANNER' } }
  }
  for await (const together of records) yield together.map(read)
  if (!header) throw refuse()
}

function readRecord(header: Header, { line, cells, text }: FileRecord): Found {
  if (isTotals(cells)) return { kind: 'skipped', listed: { line, column: null, code: 'TOTALS' } }
  if (cells.length !== header.width) {
    return { kind: 'rejected', errors: [{ line, column: null, code: 'COLUMN_COUNT' }] }
  }
  const row = mapRow(header.mapping, (column) => cells[header.at.get(column) ?? -1])
  return asFound(header.mapping, line, row, Buffer.from(text))
}

/** `bytes` are the record in the file. */
export function asFound(mapping: FileMapping, line: number, row: MappedRow, bytes: Buffer): Found {
  if (row.loan) {
    return { kind: 'row', line, mapping, row, loan: row.loan, sourceRecordSha256: hash('sha256', bytes, 'hex') }
  }
  return { kind: 'rejected', errors: row.errors.map((error) => ({ line, ...error })) }
}
