import type { FileMapping } from './file-mapping.ts'
import type { HeaderFault } from './import.ts'

/** Records among which the header must be. */
export const HEADER_WITHIN = 20

/** Names kept of columns that are not used, at most, and characters of each: every row repeats them. */
const MAX_UNMAPPED = 100
const MAX_NAME = 64

/** A header that was recognised. */
export interface Header {
  mapping: FileMapping
  /** cells of the header */
  width: number
  /** where a column is */
  at: ReadonlyMap<string, number>
  /** names of columns that are not used, personal ones included */
  unmapped: string[]
}

/**
 * Recognises a header: every column by which a mapping is recognised stands in it, and no column of the mapping twice.
 * @returns undefined when the record is none
 */
export function recogniseHeader(mappings: readonly FileMapping[], cells: readonly string[]): Header | undefined {
  const names = cells.map((cell) => cell.trim())
  const lower = names.map((name) => name.toLowerCase())
  for (const mapping of mappings) {
    if (!mapping.recognisedBy.every((name) => lower.includes(name))) continue
    const known = mapping.columns.filter(({ from }) => lower.includes(from))
    if (known.some(({ from }) => lower.indexOf(from) !== lower.lastIndexOf(from))) continue
    const used = new Set(known.filter(({ personal }) => !personal).map(({ from }) => from))
    const isPersonal = new Set(known.filter(({ personal }) => personal).map(({ from }) => from))
    const unused = names.filter((name, index) => name !== '' && !used.has(lower[index] ?? ''))
    const [first, rest] = [true, false].map((wanted) =>
      unused.filter((name) => isPersonal.has(name.toLowerCase()) === wanted),
    )
    return {
      mapping,
      width: cells.length,
      at: new Map([...used].map((name) => [name, lower.indexOf(name)])),
      unmapped: [...(first ?? []), ...(rest ?? [])]
        .slice(0, MAX_UNMAPPED)
        .map((name) => name.slice(0, MAX_NAME).toWellFormed()),
    }
  }
  return undefined
}

/**
 * Returns the faults of a record as the header of the mapping that it is closest to.
 * @returns undefined for a record without a column of any mapping
 */
export function headerFault(mappings: readonly FileMapping[], cells: readonly string[]): HeaderFault | undefined {
  const lower = cells.map((cell) => cell.trim().toLowerCase())
  const faults = mappings.flatMap(({ id, recognisedBy, columns }) => {
    const missing = recognisedBy.filter((name) => !lower.includes(name))
    if (missing.length === recognisedBy.length) return []
    const repeated = columns.map(({ from }) => from).filter((name) => lower.indexOf(name) !== lower.lastIndexOf(name))
    return [{ mapping: id, missing, repeated }]
  })
  return faults.toSorted((a, b) => a.missing.length - b.missing.length)[0]
}

/** A label of a sum, for example `Total:` or `Sub-total (INR)`, and nothing else. */
const TOTALS_LABEL = /^(?:grand[\s\p{Pd}]+|sub[\s\p{Pd}]*)?total\s*:?\s*(?:\([^()]*\)|\[[^[\]]*\])?\s*:?$/iu

/**
 * Returns true if a record sums up others: it has one filled cell, or its first cell is only a label of a sum. A first
 * cell with more text, for example a borrower called "Total Logistics", belongs to a loan.
 */
export function isTotals(cells: readonly string[]): boolean {
  return cells.filter((cell) => cell.trim() !== '').length === 1 || TOTALS_LABEL.test(cells[0]?.trim() ?? '')
}
