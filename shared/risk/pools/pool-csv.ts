import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import { type FieldError, type ValidationError, validationError } from '../../errors.ts'
import { checkValue, fieldErrors, type rule } from '../../validation.ts'
import { type PoolItem, PoolItemsBody } from './requests.ts'

export const MAX_CSV_BYTES = 512 * 1024

/** Columns by their names in a file, with a sample. */
export const POOL_COLUMNS = [
  { name: 'receivableId', meaning: 'Your own reference', isRequired: true, sample: 'R-001' },
  { name: 'supplierGstin', meaning: 'GSTIN of the supplier', isRequired: true, sample: '29AAACR5678D1Z5' },
  { name: 'buyerGstin', meaning: 'GSTIN of the buyer', isRequired: true, sample: '27AAACB1234C1ZF' },
  {
    name: 'documentType',
    meaning: 'INV (invoice), CRN (credit note) or DBN (debit note)',
    isRequired: true,
    sample: 'INV',
  },
  {
    name: 'documentNumber',
    meaning: 'Number of the document, at most 16 characters',
    isRequired: true,
    sample: 'INV/001',
  },
  { name: 'documentDate', meaning: 'Date of the document (YYYY-MM-DD)', isRequired: true, sample: '2026-05-01' },
  { name: 'amountInr', meaning: 'Amount (₹), without separators', isRequired: true, sample: '118000.00' },
  { name: 'dueDate', meaning: 'Due date (YYYY-MM-DD)', isRequired: false, sample: '2026-08-01' },
] as const

export function samplePoolCsv(): string {
  const columns = POOL_COLUMNS.map(({ name }) => name)
  const cells = POOL_COLUMNS.map(({ sample }) => sample)
  return `${columns.join(',')}\r\n${cells.join(',')}\r\n`
}

export interface PoolFile {
  receivables: PoolItem[]
  /** the last line of each receivable */
  lines: number[]
}

/**
 * Reads the receivables of a CSV file with a header. The order of the columns is free.
 * @throws ValidationError with the line and the column of each error, without the content of cells
 */
export function parsePoolCsv(text: string): PoolFile {
  const [header, ...rows] = recordsOf(text)
  if (!header) throw refused('FORMAT', 'the file has no header')
  const names = header.cells.map(
    (cell) => POOL_COLUMNS.find(({ name }) => name.toLowerCase() === cell.toLowerCase())?.name,
  )
  const missing = POOL_COLUMNS.filter(({ name, isRequired }) => isRequired && !names.includes(name))
  if (missing.length > 0) throw refused('REQUIRED', `the header lacks ${missing.map(({ name }) => name).join(', ')}`)
  const unknown = header.cells.filter((_, at) => names[at] === undefined)
  if (unknown.length > 0) throw refused('UNKNOWN_FIELD', `the header has ${unknown.length} unknown columns`)
  const repeated = names.find((name, at) => names.indexOf(name) < at)
  if (repeated !== undefined) throw refused('DUPLICATE', `the header names ${repeated} twice`)
  const uneven = rows.filter(({ cells }) => cells.length !== names.length)
  if (uneven.length > 0) {
    throw validationError(
      uneven.map(({ line, cells }) => {
        const message = `line ${line}: has ${cells.length} cells, the header has ${names.length}`
        return { path: 'file', code: 'FORMAT', message }
      }),
    )
  }
  const lines = rows.map(({ line }) => line)
  const receivables = rows.map(({ cells }) => itemOf(names, cells))
  const checked = checkValue(PoolItemsBody, { receivables })
  if (checked.ok) return { receivables: checked.value.receivables, lines }
  throw validationError(fieldErrors(checked.faults, 'the file').map((error) => atLine(error, lines)))
}

interface CsvRecord {
  line: number
  cells: string[]
}

function recordsOf(text: string): CsvRecord[] {
  try {
    const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true, trim: true }
    // With `info` the parser returns more than its types declare.
    const found = parse(text, options) as unknown as { record: string[]; info: { lines: number } }[]
    return found.map(({ record, info }) => ({ line: info.lines, cells: record }))
  } catch (error) {
    if (error instanceof CsvError) throw refused('FORMAT', 'a quotation mark is not closed, or is within a cell')
    throw error
  }
}

/** Omits empty cells. An invalid amount remains text, for the schema to refuse. */
function itemOf(names: readonly (string | undefined)[], cells: readonly string[]): Record<string, unknown> {
  const given = names.flatMap((name, at) => {
    const cell = cells[at] ?? ''
    if (name === undefined || cell === '') return []
    return [[name, name === 'amountInr' && /^[0-9]+(\.[0-9]+)?$/.test(cell) ? Number(cell) : cell] as const]
  })
  return Object.fromEntries(given)
}

/** Replaces the place in the request by the place in the file. */
export function atLine(error: FieldError, lines: readonly number[]): FieldError {
  const [, place, member] = /^receivables\[(\d+)\](?:\.(\w+))?/.exec(error.path) ?? []
  if (place === undefined) return { ...error, path: 'file' }
  const line = lines[Number(place)] ?? 0
  const plain = error.message.replace(error.path, member ?? '').trim()
  return { ...error, path: 'file', message: `line ${line}: ${plain}` }
}

function refused(code: Parameters<typeof rule>[0], message: string): ValidationError {
  return validationError([{ path: 'file', code, message }])
}
