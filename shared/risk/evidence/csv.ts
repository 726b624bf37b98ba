/** What a spreadsheet would take for the beginning of a formula: such a cell gets an apostrophe, a plain number does not. */
const FORMULA = /^[=+\-@\t\r]/
const PLAIN_NUMBER = /^[+-]?[0-9]+(?:\.[0-9]+)?$/

export type CsvCell = string | number | null

/** Records as RFC 4180 has them, each with its end. */
export function csvText(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${csvLine(row)}\r\n`).join('')
}

/** A record of RFC 4180, without its end. */
export function csvLine(cells: readonly CsvCell[]): string {
  return cells.map(csvCell).join(',')
}

function csvCell(value: CsvCell): string {
  const text = value === null ? '' : String(value)
  const safe = FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
