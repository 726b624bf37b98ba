import type { BureauStyle, FileStyle } from './import.ts'

/** What of a row a column fills. */
export type RowTarget =
  | 'loanRef'
  | 'occurredAt'
  | 'amounts.principal'
  | 'amounts.interest'
  | 'amounts.outstanding'
  | 'dpd'
  | 'share.lender'
  | 'share.colender'
  | 'facts.assetClass'
  | 'facts.fundedAmount'
  | 'facts.interestRateBps'
  | 'facts.principalRepaid'
  | 'facts.reportedOn'
  | 'facts.status'
  | 'facts.termMonths'

/** How a column writes its value. */
export type CellTransform =
  | 'asset-class'
  | 'code'
  | 'date'
  | 'date-ddmmyyyy'
  | 'date-mmddyyyy'
  | 'integer'
  | 'money'
  | 'months'
  | 'percent'
  | 'rate-bps'
  | 'text'

export interface ColumnRule {
  /** null when the column is only known, so that it can be said to be personal */
  target: RowTarget | null
  /** name of the column; in bureau files segment and field */
  from: string
  transform: CellTransform | null
  /** a row in which it is empty or cannot be read is rejected */
  required: boolean
  /** never read: dropped, and named among what is unmapped */
  personal: boolean
}

/** How one version of a file's columns becomes rows: data, as mappings of events are. */
export interface FileMapping {
  kind: 'TAPE' | 'BUREAU'
  /** name and version, `in-loan-tape@1` */
  id: string
  sourceSystem: string
  sourceFormat: string
  style: FileStyle
  description: string
  /** a header that has all of these is one of this format; a bureau style is recognised by its layout */
  recognisedBy: readonly string[]
  columns: readonly ColumnRule[]
}

/** A column that fills a member of the row. */
export function column(
  from: string,
  target: RowTarget,
  transform: CellTransform,
  { required = false }: { required?: boolean } = {},
): ColumnRule {
  return { target, from, transform, required, personal: false }
}

/** A column about a person: it is dropped. */
export function personal(from: string): ColumnRule {
  return { target: null, from, transform: null, required: false, personal: true }
}

/** What mappings of one kind have in common, and each says of itself. */
type Described = Pick<FileMapping, 'description' | 'columns'>

/** A mapping of a tape in CSV. @param name its format; the version is added */
export function tapeMapping(
  name: string,
  version: number,
  rest: Described & Pick<FileMapping, 'recognisedBy'>,
): FileMapping {
  const format = { sourceSystem: 'loan-tape', sourceFormat: name, style: 'csv' } as const
  return { kind: 'TAPE', id: `${name}@${version}`, ...format, ...rest }
}

/** A mapping of the accounts in files of a bureau style, which is recognised by its layout. */
export function bureauMapping(style: BureauStyle, version: number, rest: Described): FileMapping {
  const format = { sourceSystem: 'bureau-file', sourceFormat: style, style, recognisedBy: [] } as const
  return { kind: 'BUREAU', id: `${style}-accounts@${version}`, ...format, ...rest }
}
