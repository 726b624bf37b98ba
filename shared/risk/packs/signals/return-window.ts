import type { ReturnPeriod } from '../../registries/registry-data.ts'
import { addMonths, indianDay, monthsFrom } from '../money.ts'

/** Due days of quarterly and monthly returns (docs/spec/risk-signals.md#trade-relationship). */
const DUE_DAY = { MONTHLY: 11, QUARTERLY: 13 } as const

const WINDOW_MONTHS = 12

/** Twelve calendar months, oldest first, whose return was due (Asia/Kolkata). */
export function returnWindow(observedAtMs: number, filing: ReturnPeriod['filing'] = 'MONTHLY'): string[] {
  const today = indianDay(observedAtMs)
  const lastClosed = addMonths(today, -1)
  const duePassed = Number(today.slice(8)) > DUE_DAY[filing]
  if (filing === 'MONTHLY') return endingIn(duePassed ? lastClosed : addMonths(lastClosed, -1))
  const quarterEnd = lastQuarterEnd(lastClosed)
  const dueNow = quarterEnd !== lastClosed || duePassed
  return endingIn(dueNow ? quarterEnd : addMonths(quarterEnd, -3))
}

export function quarterOf(month: string): string {
  return addMonths(month, (3 - (Number(month.slice(5, 7)) % 3)) % 3)
}

function lastQuarterEnd(month: string): string {
  const end = quarterOf(month)
  return end === month ? month : addMonths(end, -3)
}

function endingIn(last: string): string[] {
  return monthsFrom(addMonths(last, 1 - WINDOW_MONTHS), WINDOW_MONTHS)
}
