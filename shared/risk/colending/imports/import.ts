import type { ApiEnv } from '../../../environment.ts'

/** A lender's loan tape, or a file in the style of a credit bureau. */
export type ImportKind = 'TAPE' | 'BUREAU'

/** File layouts; mappings define the meaning of the columns. */
export const BUREAU_STYLES = ['segment-tlv', 'fixed-record'] as const
export type BureauStyle = (typeof BUREAU_STYLES)[number]
export type FileStyle = 'csv' | BureauStyle

export type ImportState = 'RECEIVED' | 'RUNNING' | 'COMPLETED' | 'COMPLETED_WITH_ERRORS' | 'FAILED'

export function hasEnded(state: ImportState): boolean {
  return state !== 'RECEIVED' && state !== 'RUNNING'
}

export const MAX_FILE_BYTES = 20 * 1024 * 1024
export const MAX_ERRORS = 10_000
export const MAX_SKIPPED_LISTED = 100

export const ROW_CODES = [
  'REQUIRED',
  'NOT_MONEY',
  'NOT_INTEGER',
  'NOT_DATE',
  'NEGATIVE',
  'OUT_OF_RANGE',
  'DUPLICATE_IN_FILE',
  'COLUMN_COUNT',
  'SEGMENT_LENGTH',
] as const
export type RowCode = (typeof ROW_CODES)[number]

export const FAILURE_CODES = [
  'RECORD_TOO_LONG',
  'QUOTING',
  'NOT_UTF8',
  'FORMAT_UNKNOWN',
  'TOO_MANY_ERRORS',
  'TRAILER_MISMATCH',
  'EXPIRED',
] as const
export type FailureCode = (typeof FAILURE_CODES)[number]

export const SKIP_REASONS = ['BANNER', 'TOTALS'] as const
type SkipReason = (typeof SKIP_REASONS)[number]

/** Observations about rows; they never reject a row. */
export const OBSERVATIONS = ['SHARES_NOT_100', 'SHARE_BELOW_10', 'DPD_OUTSIDE_ASSET_CLASS'] as const
export type Observation = (typeof OBSERVATIONS)[number]

/** A stored error; it never contains the text of the file. */
export interface RowError {
  line: number
  column: string | null
  code: RowCode
}

export interface ListedLine {
  line: number
  column: string | null
  code: RowCode | SkipReason
}

export interface HeaderFault {
  mapping: string
  /** columns of the mapping; `repeated` has columns that occur twice */
  missing: string[]
  repeated: string[]
}

export interface Failure {
  line: number
  code: FailureCode
  /** only for FORMAT_UNKNOWN */
  header?: HeaderFault
}

export interface Progress {
  /** records of the file, including header and skipped ones */
  records: number
  accepted: number
  rejected: number
  skipped: number
  errors: number
  /** segments of persons in a bureau file, which are only counted */
  persons: number
  observations: Partial<Record<Observation, number>>
  /** names of unused columns, personal ones first */
  unmapped: string[]
}

export const NO_PROGRESS: Progress = {
  records: 0,
  accepted: 0,
  rejected: 0,
  skipped: 0,
  errors: 0,
  persons: 0,
  observations: {},
  unmapped: [],
}

export interface Import {
  id: string
  seq: number
  organisationId: number
  env: ApiEnv
  kind: ImportKind
  style: FileStyle
  /** the requested mapping; null if the header decides */
  requestedMapping: string | null
  mapping: string | null
  state: ImportState
  /** of the file */
  sha256: Buffer
  bytes: number
  /** null for files of the API */
  fileName: string | null
  receivedAt: Date
  progress: Progress
  /** stored records; a worker continues after them */
  recordNo: number
  failure: Failure | null
  /** the anchored object, canonical JSON */
  record: string | null
}

const CELL_MESSAGES: Readonly<Record<RowCode, string>> = {
  REQUIRED: 'is empty',
  NOT_MONEY: 'is not an amount',
  NOT_INTEGER: 'is neither a whole number nor a percentage with at most two decimals',
  NOT_DATE: 'is not a date',
  NEGATIVE: 'is negative',
  OUT_OF_RANGE: 'is out of range',
  DUPLICATE_IN_FILE: 'repeats the loan of an earlier row',
  COLUMN_COUNT: 'the number of cells differs from that of the header',
  SEGMENT_LENGTH: 'a field exceeds the end of its segment or record',
}

export function errorMessage({ column, code }: Pick<RowError, 'column' | 'code'>): string {
  return column === null ? CELL_MESSAGES[code] : `${column} ${CELL_MESSAGES[code]}`
}

const FAILURE_MESSAGES: Readonly<Record<FailureCode, string>> = {
  RECORD_TOO_LONG: 'a record is longer than 65,536 characters',
  QUOTING: 'a quotation mark is not closed, or occurs inside an unquoted cell',
  NOT_UTF8: 'the file is not UTF-8 text',
  FORMAT_UNKNOWN: 'the format of the file is not known',
  TOO_MANY_ERRORS: 'the file has more than 10,000 errors',
  TRAILER_MISMATCH: 'the trailer is missing or its count differs from the number of records',
  EXPIRED: 'the import did not end within a day; send the file again',
}

export function failureMessage({ code, header }: Failure): string {
  if (!header) return FAILURE_MESSAGES[code]
  const { mapping, missing, repeated } = header
  const faults = [
    ...(missing.length === 0 ? [] : [`lacks the columns ${missing.join(', ')}`]),
    ...(repeated.length === 0 ? [] : [`has these columns twice: ${repeated.join(', ')}`]),
  ]
  return `${FAILURE_MESSAGES[code]}: the record closest to ${mapping} ${faults.join(' and ')}`
}
