import type { FileMapping } from './file-mapping.ts'
import type { HeaderFault } from './import.ts'

export const HEADER_WITHIN = 20

/** Limits for the stored names of unused columns, because each row repeats them. */
const MAX_UNMAPPED = 100
const MAX_NAME = 64

export interface Header {
  mapping: FileMapping
  width: number
  at: ReadonlyMap<string, number>
  /** names of unused columns, including personal ones */
  unmapped: string[]
}

/** Repeated columns are not allowed. */
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

/** Uses the closest mapping; undefined without a known column. */
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

/** A first cell with more than a sum label ("Total Logistics") is a borrower. */
export function isTotals(cells: readonly string[]): boolean {
  return cells.filter((cell) => cell.trim() !== '').length === 1 || TOTALS_LABEL.test(cells[0]?.trim() ?? '')
}
