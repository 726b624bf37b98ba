import type { ApiEnv } from '../../../environment.ts'

/** A lender's tape of loans, or a file in the style of a credit bureau. */
export type ImportKind = 'TAPE' | 'BUREAU'

/** How a file is laid out; mappings say what its columns mean. */
export const BUREAU_STYLES = ['segment-tlv', 'fixed-record'] as const
export type BureauStyle = (typeof BUREAU_STYLES)[number]
export type FileStyle = 'csv' | BureauStyle

export type ImportState = 'RECEIVED' | 'RUNNING' | 'COMPLETED' | 'COMPLETED_WITH_ERRORS' | 'FAILED'

export function hasEnded(state: ImportState): boolean {
  return state !== 'RECEIVED' && state !== 'RUNNING'
}

/** Bytes of a file, at most. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024
/** Errors of an import; a file with more is of another format. */
export const MAX_ERRORS = 10_000
/** Lines of skipped records that are kept. */
export const MAX_SKIPPED_LISTED = 100

/** What is wrong with a cell or a record. */
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

/** Why a whole file is refused. */
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

/** Why a record is left out that is no loan. */
export const SKIP_REASONS = ['BANNER', 'TOTALS'] as const
type SkipReason = (typeof SKIP_REASONS)[number]

/** What is told of rows beside their values; none of it keeps a row out. */
export const OBSERVATIONS = ['SHARES_NOT_100', 'SHARE_BELOW_10', 'DPD_OUTSIDE_ASSET_CLASS'] as const
export type Observation = (typeof OBSERVATIONS)[number]

/** One error as it is stored: it never holds what stood in the file. */
export interface RowError {
  line: number
  /** null when it is the whole record's */
  column: string | null
  code: RowCode
}

/** An error, or a record that was skipped: the two are numbered together, in the order of the file. */
export interface ListedLine {
  line: number
  column: string | null
  code: RowCode | SkipReason
}

/** Faults of a record as the header of a mapping. */
export interface HeaderFault {
  mapping: string
  /** columns of the mapping that are missing, and those that are given twice */
  missing: string[]
  repeated: string[]
}

/** Why an import failed, and where in the file. */
export interface Failure {
  line: number
  code: FailureCode
  /** of FORMAT_UNKNOWN */
  header?: HeaderFault
}

/** What is counted while an import runs, as of its last stored record. */
export interface Progress {
  /** records of the file, header and skipped ones included */
  records: number
  accepted: number
  rejected: number
  skipped: number
  errors: number
  /** segments of persons in a bureau file, which are counted and nothing more */
  persons: number
  observations: Partial<Record<Observation, number>>
  /** names of columns that are not used, personal ones first */
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

/** An import as it is stored. */
export interface Import {
  id: string
  seq: number
  organisationId: number
  env: ApiEnv
  kind: ImportKind
  style: FileStyle
  /** the mapping that was asked for; null when the header decides */
  requestedMapping: string | null
  /** the mapping by which it was read; null until that is known */
  mapping: string | null
  state: ImportState
  /** of the file */
  sha256: Buffer
  bytes: number
  receivedAt: Date
  progress: Progress
  /** records that are stored: a worker goes on behind them */
  recordNo: number
  failure: Failure | null
  /** the anchored object, canonical JSON */
  record: string | null
}

const CELL_MESSAGES: Readonly<Record<RowCode, string>> = {
  REQUIRED: 'is empty',
  NOT_MONEY: 'is not an amount',
  NOT_INTEGER: 'is not a whole number, or a percentage of whole basis points',
  NOT_DATE: 'is not a date',
  NEGATIVE: 'is negative',
  OUT_OF_RANGE: 'is out of range',
  DUPLICATE_IN_FILE: 'names a loan of an earlier row',
  COLUMN_COUNT: 'the row has another number of cells than the header',
  SEGMENT_LENGTH: 'a field goes past the end of what holds it',
}

/** One sentence for people. */
export function errorMessage({ column, code }: Pick<RowError, 'column' | 'code'>): string {
  return column === null ? CELL_MESSAGES[code] : `${column} ${CELL_MESSAGES[code]}`
}

const FAILURE_MESSAGES: Readonly<Record<FailureCode, string>> = {
  RECORD_TOO_LONG: 'a record is longer than 65,536 characters',
  QUOTING: 'a quotation mark is never closed, or stands where none may',
  NOT_UTF8: 'the file is not text in UTF-8',
  FORMAT_UNKNOWN: 'the file is of no format that a mapping recognises',
  TOO_MANY_ERRORS: 'there are more than 10,000 errors',
  TRAILER_MISMATCH: 'the trailer is missing or counts other records than there are',
  EXPIRED: 'the import did not end within a day; the file may be sent again',
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
