import { readBase, readBorrower, readSegmentHeader } from '#shared/risk/colending/imports/bureau-records.ts'
import { fixedStyle, LENGTH_FIELD, placed, segmentStyle } from '#shared/risk/colending/imports/bureau-styles.ts'
import type { FileMapping } from '#shared/risk/colending/imports/file-mapping.ts'
import { mapRow } from '#shared/risk/colending/imports/map-row.ts'
import { NotTextError } from '#shared/risk/colending/imports/utf8-check.ts'
import { FileRefusedError } from './csv-records.ts'
import { asFound, type Found } from './interpret.ts'

const MAX_RECORD_BYTES = 65_536

/** Yields one array per chunk of the file: the records that end in it. @throws FileRefusedError */
export function interpretBureau(bytes: AsyncIterable<Buffer>, mapping: FileMapping): AsyncGenerator<Found[]> {
  const text = textOf(bytes)
  return mapping.style === 'fixed-record' ? fixedRecords(text, mapping) : segments(text, mapping)
}

/** One character per byte, because lengths and positions in the file count bytes. */
async function* textOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  try {
    for await (const piece of bytes) yield piece.toString('latin1')
  } catch (error) {
    throw error instanceof NotTextError ? new FileRefusedError('NOT_UTF8', error.line) : error
  }
}

async function* segments(text: AsyncIterable<string>, mapping: FileMapping): AsyncGenerator<Found[]> {
  const { header, end, trailer } = segmentStyle
  let rest = ''
  let number = 0
  let fields: Map<string, string> | null = null
  let isFirst = true
  for await (const piece of text) {
    rest += piece
    if (isFirst && rest.length < header.length && rest.startsWith(header.starts)) continue
    if (isFirst && rest.startsWith(header.starts)) {
      fields = readSegmentHeader(rest)
      rest = rest.slice(header.length)
    }
    isFirst = false
    const inChunk: Found[] = []
    let from = 0
    for (let at = rest.indexOf(end); at !== -1; at = rest.indexOf(end, from)) {
      const borrower = rest.slice(from, at)
      inChunk.push(...found(borrower, readBorrower(borrower, fields ?? new Map()), mapping, ++number))
      from = at + end.length
    }
    rest = rest.slice(from)
    yield inChunk
    if (rest.length > MAX_RECORD_BYTES) throw new FileRefusedError('RECORD_TOO_LONG', number + 1)
  }
  const last = rest.trim()
  if (number === 0) throw new FileRefusedError('FORMAT_UNKNOWN', 1)
  if (fields !== null && !last.startsWith(trailer)) throw new FileRefusedError('TRAILER_MISMATCH', number)
  // The last borrower has no end mark.
  if (last !== '' && !last.startsWith(trailer)) yield [...found(last, undefined, mapping, number + 1)]
}

async function* fixedRecords(text: AsyncIterable<string>, mapping: FileMapping): AsyncGenerator<Found[]> {
  const { header, trailer } = fixedStyle
  let number = 0
  let baseCount = 0
  let isClosed = false
  for await (const record of lengthPrefixedRecords(text)) {
    number += 1
    const has = ({ id, at }: { id: string; at: number }) => record?.startsWith(id, at - 1) === true
    if (number === 1 && !has(header)) throw new FileRefusedError('FORMAT_UNKNOWN', 1)
    if (isClosed) throw new FileRefusedError('TRAILER_MISMATCH', number)
    if (number === 1) continue
    if (record !== null && has(trailer)) {
      isClosed = true
      if (Number(placed(record, trailer.count)) !== baseCount) throw new FileRefusedError('TRAILER_MISMATCH', number)
      continue
    }
    baseCount += 1
    yield [...found(record ?? '', record === null ? undefined : readBase(record), mapping, number)]
  }
  if (!isClosed) throw new FileRefusedError(number === 0 ? 'FORMAT_UNKNOWN' : 'TRAILER_MISMATCH', number)
}

/** Splits by the length in the first four digits of each record; yields null for a record without a valid length. */
async function* lengthPrefixedRecords(text: AsyncIterable<string>): AsyncGenerator<string | null> {
  let rest = ''
  for await (const piece of text) {
    rest += piece
    for (;;) {
      rest = rest.replace(/^[\r\n]+/, '')
      if (rest.length < 4) break
      const length = lengthOf(rest)
      const line = length === null ? rest.indexOf('\n') : -1
      if (length === null && line === -1) {
        if (rest.length > MAX_RECORD_BYTES) throw new FileRefusedError('RECORD_TOO_LONG', 0)
        break
      }
      const end = length ?? line
      if (rest.length < end) break
      yield length === null ? null : rest.slice(0, end)
      rest = rest.slice(end)
    }
  }
  if (rest.trim() !== '') yield null
}

function lengthOf(text: string): number | null {
  const digits = text.slice(LENGTH_FIELD.from - 1, LENGTH_FIELD.to)
  return !/^[0-9]{4}$/.test(digits) || Number(digits) < 5 ? null : Number(digits)
}

function* found(
  text: string,
  record: { accounts: ReadonlyMap<string, string>[]; persons: number } | undefined,
  mapping: FileMapping,
  number: number,
): Generator<Found> {
  if (!record) {
    yield { kind: 'rejected', errors: [{ line: number, column: null, code: 'SEGMENT_LENGTH' }] }
    return
  }
  if (record.persons > 0) yield { kind: 'persons', count: record.persons }
  const bytes = Buffer.from(text.replace(/^[\r\n]+/, ''), 'latin1')
  for (const cells of record.accounts) {
    yield asFound(
      mapping,
      number,
      mapRow(mapping, (column) => cells.get(column)),
      bytes,
    )
  }
}
