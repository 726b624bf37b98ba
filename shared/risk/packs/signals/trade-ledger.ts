import { financialYear } from '../../identifiers/financial-year.ts'
import type { LedgerInvoice, ReturnPeriod, TradeLedger } from '../../registries/registry-data.ts'
import type { Paise } from '../money.ts'
import { quarterOf, returnWindow } from './return-window.ts'

/** Amended, deduplicated, and grouped by month. */
export interface LedgerWindow {
  months: readonly string[]
  invoices: readonly LedgerInvoice[]
  /** net value per month; null for a period that is not filed or not obtainable */
  monthlyPaise: readonly (Paise | null)[]
  /** invoices plus debit notes minus credit notes, at least zero */
  totalPaise: Paise
  monthsActive: number
  filedMonths: number
  /** invoices and credit notes by month of the window; null as in `monthlyPaise` */
  movements: readonly (MonthMovement | null)[]
  creditNotes: number
  /** invoices of the window that a later return changed */
  amendedInvoices: number
}

interface MonthMovement {
  gross: bigint
  credit: bigint
}

/** Applies docs/spec/risk-signals.md#trade-relationship to a registry response. */
export function ledgerWindow(ledger: TradeLedger, observedAtMs: number): LedgerWindow {
  const filing = filingOf(ledger.periods)
  const months = returnWindow(observedAtMs, filing)
  const monthOf = (row: { period: string; date: string }) => monthInWindow(row, filing)
  const inWindow = (row: { period: string; date: string }) => months.includes(monthOf(row))
  const known = amended(ledger, months).filter(({ invoice }) => inWindow(invoice))
  const invoices = known.map(({ invoice }) => invoice)
  const notes = deduplicated(ledger.notes, (note) => `${note.kind}|${keyOf(note)}`).filter(inWindow)

  const movements = new Map<string, MonthMovement>()
  const move = (month: string, change: Partial<MonthMovement>) => {
    const { gross, credit } = movements.get(month) ?? { gross: 0n, credit: 0n }
    movements.set(month, { gross: gross + (change.gross ?? 0n), credit: credit + (change.credit ?? 0n) })
  }
  for (const invoice of invoices) move(monthOf(invoice), { gross: BigInt(invoice.valuePaise) })
  for (const note of notes) {
    const paise = BigInt(note.valuePaise)
    move(monthOf(note), note.kind === 'DEBIT' ? { gross: paise } : { credit: paise })
  }

  const netOf = ({ gross, credit }: MonthMovement) => gross - credit

  const isFiled = filedMonths(ledger.periods)
  const monthlyPaise = months.map((month) =>
    isFiled(month) ? Number(netOf(movements.get(month) ?? { gross: 0n, credit: 0n })) : null,
  )
  const total = [...movements.values()].reduce((sum, movement) => sum + netOf(movement), 0n)
  return {
    months,
    invoices,
    monthlyPaise,
    totalPaise: total > 0n ? Number(total) : 0,
    monthsActive: new Set(invoices.map((invoice) => invoice.date.slice(0, 7))).size,
    filedMonths: monthlyPaise.filter((value) => value !== null).length,
    movements: months.map((month) => (isFiled(month) ? (movements.get(month) ?? { gross: 0n, credit: 0n }) : null)),
    creditNotes: notes.filter(({ kind }) => kind === 'CREDIT').length,
    amendedInvoices: known.filter(({ isAmended }) => isAmended).length,
  }
}

/** Financial year and upper-case number. */
export function documentKey(date: string, number: string): string {
  return `${financialYear(date)}|${number.toUpperCase()}`
}

// A later amendment replaces the original document. It is ignored if the original is before the window, and used if the
// original is in an unfiled period of the window.
function amended(ledger: TradeLedger, months: readonly string[]): { invoice: LedgerInvoice; isAmended: boolean }[] {
  const byKey = new Map<string, { invoice: LedgerInvoice; isAmended: boolean }>()
  for (const invoice of ledger.invoices) {
    if (!byKey.has(keyOf(invoice))) byKey.set(keyOf(invoice), { invoice, isAmended: false })
  }
  const first = months[0] ?? ''
  for (const amendment of ledger.amendments) {
    const originalKey = documentKey(amendment.originalDate, amendment.originalNumber)
    const original = byKey.get(originalKey)
    if (!original && amendment.originalDate.slice(0, 7) < first) continue
    byKey.delete(originalKey)
    const { number, date, valuePaise, irn } = amendment
    const period = original?.invoice.period ?? amendment.period
    byKey.set(keyOf(amendment), { invoice: { period, number, date, valuePaise, irn }, isAmended: true })
  }
  return [...byKey.values()]
}

function keyOf(row: { date: string; number: string }): string {
  return documentKey(row.date, row.number)
}

function deduplicated<Row>(rows: readonly Row[], key: (row: Row) => string): Row[] {
  const seen = new Map<string, Row>()
  for (const row of rows) {
    if (!seen.has(key(row))) seen.set(key(row), row)
  }
  return [...seen.values()]
}

function filingOf(periods: readonly ReturnPeriod[]): ReturnPeriod['filing'] {
  return periods.some((period) => period.filing === 'MONTHLY') ? 'MONTHLY' : (periods[0]?.filing ?? 'MONTHLY')
}

// A quarterly return reports three months together: its rows belong to the month of their date.
function monthInWindow(row: { period: string; date: string }, filing: ReturnPeriod['filing']): string {
  const month = row.date.slice(0, 7)
  return filing === 'QUARTERLY' && quarterOf(month) === quarterOf(row.period) ? month : row.period
}

function filedMonths(periods: readonly ReturnPeriod[]): (month: string) => boolean {
  const filed = periods.filter((period) => period.status === 'FILED')
  const monthly = new Set(filed.filter((period) => period.filing === 'MONTHLY').map((period) => period.period))
  const quarters = new Set(
    filed.filter((period) => period.filing === 'QUARTERLY').map((period) => quarterOf(period.period)),
  )
  return (month) => monthly.has(month) || quarters.has(quarterOf(month))
}
