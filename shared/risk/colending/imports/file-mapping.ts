import type { BureauStyle, FileStyle } from './import.ts'

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
  /** null for a column that is only listed as personal */
  target: RowTarget | null
  /** in bureau files segment and field */
  from: string
  transform: CellTransform | null
  /** a row with an empty or invalid cell is rejected */
  required: boolean
  /** never read; listed among the unmapped columns */
  personal: boolean
}

/** Maps one version of a file format to rows, as data. */
export interface FileMapping {
  kind: 'TAPE' | 'BUREAU'
  /** name and version, `in-loan-tape@1` */
  id: string
  sourceSystem: string
  sourceFormat: string
  style: FileStyle
  description: string
  /** a header with all of these has this format; a bureau style is recognised by its layout */
  recognisedBy: readonly string[]
  columns: readonly ColumnRule[]
}

export function column(
  from: string,
  target: RowTarget,
  transform: CellTransform,
  { required = false }: { required?: boolean } = {},
): ColumnRule {
  return { target, from, transform, required, personal: false }
}

/** Drops a column about a person. */
export function personal(from: string): ColumnRule {
  return { target: null, from, transform: null, required: false, personal: true }
}

type Described = Pick<FileMapping, 'description' | 'columns'>

export function tapeMapping(
  name: string,
  version: number,
  rest: Described & Pick<FileMapping, 'recognisedBy'>,
): FileMapping {
  const format = { sourceSystem: 'loan-tape', sourceFormat: name, style: 'csv' } as const
  return { kind: 'TAPE', id: `${name}@${version}`, ...format, ...rest }
}

export function bureauMapping(style: BureauStyle, version: number, rest: Described): FileMapping {
  const format = { sourceSystem: 'bureau-file', sourceFormat: style, style, recognisedBy: [] } as const
  return { kind: 'BUREAU', id: `${style}-accounts@${version}`, ...format, ...rest }
}
