import { readCell } from './cells.ts'
import type { ColumnRule, FileMapping, RowTarget } from './file-mapping.ts'
import type { Observation, RowCode, RowError } from './import.ts'
import type { ReportedLoan } from './row.ts'

export interface MappedRow {
  loan: Omit<ReportedLoan, 'unmapped'> | null
  /** the lender's own reference; the service publishes only its hash */
  loanRef: string
  unread: string[]
  errors: Omit<RowError, 'line'>[]
}

/** `cellOf` returns undefined without the column. */
export function mapRow(mapping: FileMapping, cellOf: (column: string) => string | undefined): MappedRow {
  const values = new Map<RowTarget, string | number>()
  const errors: Omit<RowError, 'line'>[] = []
  const unread: string[] = []
  let isRejected = false
  for (const rule of mapping.columns) {
    if (rule.personal || rule.target === null || rule.transform === null) continue
    const result = cellValue(rule, cellOf(rule.from))
    if ('value' in result) {
      if (result.value !== null) values.set(rule.target, result.value)
      continue
    }
    errors.push({ column: rule.from, code: result.code })
    unread.push(rule.from)
    if (rule.required) isRejected = true
  }
  const loanRef = String(values.get('loanRef') ?? '')
  return { loan: isRejected ? null : loanOf(values), loanRef, unread, errors }
}

function cellValue(
  { transform, required }: ColumnRule,
  cell: string | undefined,
): { value: string | number | null } | { code: RowCode } {
  const text = cell?.trim() ?? ''
  if (text !== '' && transform !== null) return readCell(transform, text)
  return required ? { code: 'REQUIRED' } : { value: null }
}

function loanOf(values: ReadonlyMap<RowTarget, string | number>): Omit<ReportedLoan, 'unmapped'> {
  const number = (target: RowTarget) => {
    const value = values.get(target)
    return typeof value === 'number' ? value : null
  }
  const text = (target: RowTarget) => {
    const value = values.get(target)
    return typeof value === 'string' ? value : null
  }
  const share = { lender: number('share.lender'), colender: number('share.colender') }
  const dpd = number('dpd')
  const assetClass = text('facts.assetClass')
  return {
    eventType: 'loan.reported',
    occurredAt: text('occurredAt'),
    amounts: {
      principal: number('amounts.principal'),
      interest: number('amounts.interest'),
      outstanding: number('amounts.outstanding'),
    },
    dpd,
    share,
    facts: {
      assetClass,
      fundedAmount: number('facts.fundedAmount'),
      interestRateBps: number('facts.interestRateBps'),
      principalRepaid: number('facts.principalRepaid'),
      reportedOn: text('facts.reportedOn'),
      status: text('facts.status'),
      termMonths: number('facts.termMonths'),
    },
    observations: observationsOf(share, dpd, assetClass),
    tier: 'LENDER_SIDE',
  }
}

/** Both ends are included. */
const DAYS_OF_CLASS: Readonly<Record<string, readonly [number, number]>> = {
  STANDARD: [0, 90],
  'SMA-0': [1, 30],
  'SMA-1': [31, 60],
  'SMA-2': [61, 90],
  NPA: [91, Number.POSITIVE_INFINITY],
  'SUB-STANDARD': [91, Number.POSITIVE_INFINITY],
  DOUBTFUL: [91, Number.POSITIVE_INFINITY],
  LOSS: [91, Number.POSITIVE_INFINITY],
}

/** The co-lending directions of 2025 require at least 10 % of each lender. */
function observationsOf(share: ReportedLoan['share'], dpd: number | null, assetClass: string | null): Observation[] {
  const found: Observation[] = []
  const [lender, colender] = [share.lender, share.colender].map((percent) =>
    percent === null ? null : Math.round(percent * 100),
  )
  // Whole basis points, so that 33.33 and 66.67 add up to exactly 100.
  if (lender != null && colender != null && lender + colender !== 10_000) found.push('SHARES_NOT_100')
  if ([lender, colender].some((bps) => bps != null && bps < 1_000)) found.push('SHARE_BELOW_10')
  const [first, last] = (assetClass !== null && DAYS_OF_CLASS[assetClass]) || [0, Number.POSITIVE_INFINITY]
  if (dpd !== null && (dpd < first || dpd > last)) found.push('DPD_OUTSIDE_ASSET_CLASS')
  return found
}
