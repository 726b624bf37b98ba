import type { CellTransform, ColumnRule, FileMapping, RowTarget } from './file-mapping.ts'

/** Valid cells of two rows that agree with each other. */
const CELLS: Readonly<Record<CellTransform, readonly [string, string]>> = {
  'asset-class': ['STANDARD', 'SMA-1'],
  code: ['Current', 'Fully Paid'],
  date: ['2026-03-31', '2026-04-15'],
  'date-ddmmyyyy': ['31032026', '15042026'],
  'date-mmddyyyy': ['03312026', '04152026'],
  integer: ['0', '42'],
  money: ['500000.00', '250000.50'],
  months: ['36 months', '60 months'],
  percent: ['80', '75'],
  'rate-bps': ['10.65', '12.5'],
  text: ['LOAN-001', 'LOAN-002'],
}

/** The shares of both lenders add up to 100. */
const CELLS_OF_TARGET: Partial<Record<RowTarget, readonly [string, string]>> = { 'share.colender': ['20', '25'] }

/** Two valid cells of a column; undefined for a column that is not read. */
export function sampleCells({ target, transform }: ColumnRule): readonly [string, string] | undefined {
  if (target === null || transform === null) return undefined
  return CELLS_OF_TARGET[target] ?? CELLS[transform]
}

/** A CSV file with a header and two rows that are accepted without errors. */
export function sampleTape({ columns }: FileMapping): string {
  const read = columns.flatMap((column) => {
    const cells = sampleCells(column)
    return cells ? [[column.from, ...cells]] : []
  })
  return [0, 1, 2].map((line) => `${read.map((cells) => cells[line]).join(',')}\r\n`).join('')
}
