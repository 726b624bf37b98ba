import type { AccountData, DepositAccount } from '../../registries/registry-data.ts'
import {
  addDays,
  addMonths,
  dayOf,
  daysInMonth,
  divideHalfEven,
  indianDay,
  monthsFrom,
  type Paise,
  toInr,
} from '../money.ts'

export type BalanceTier = 'BRONZE' | 'SILVER' | 'GOLD' | 'PLATINUM'

/** Members are null without a source or with too few complete months. */
export interface AccountCashflow {
  avgMonthlyBalance: number | null
  balanceTier: BalanceTier | null
  source: string | null
}

/** Each excluded account becomes a sentence in `flags`. */
export interface CashflowNotes {
  excludedFacilities: number
  shortHistories: number
}

const WINDOW_MONTHS = 6
const MIN_COMPLETE_MONTHS = 3

/** Uses complete months (docs/spec/risk-signals.md#cash-flow). */
export function accountCashflow(
  data: AccountData | null,
  source: string | null,
  observedAtMs: number,
): { cashflow: AccountCashflow; notes: CashflowNotes } {
  const notes: CashflowNotes = { excludedFacilities: 0, shortHistories: 0 }
  const months = monthsFrom(addMonths(indianDay(observedAtMs), -WINDOW_MONTHS), WINDOW_MONTHS)
  const averages: Fraction[] = []
  for (const account of data?.accounts ?? []) {
    if (account.type !== 'SAVINGS' && account.type !== 'CURRENT') continue
    if (account.facility !== null) {
      notes.excludedFacilities++
      continue
    }
    const complete = completeMonths(account, months)
    if (complete.length < MIN_COMPLETE_MONTHS) notes.shortHistories++
    else averages.push(averageOverMonths(account, complete))
  }
  if (averages.length === 0) return { cashflow: { avgMonthlyBalance: null, balanceTier: null, source: null }, notes }
  const average = roundHalfEven(averages.reduce(add))
  return { cashflow: { avgMonthlyBalance: toInr(average), balanceTier: balanceTier(average), source }, notes }
}

/** The band does not rate the balance. */
export function balanceTier(paise: Paise): BalanceTier {
  if (paise < 10_000_000) return 'BRONZE'
  if (paise < 100_000_000) return 'SILVER'
  return paise < 500_000_000 ? 'GOLD' : 'PLATINUM'
}

/** Mean end-of-day balance, rounded half to even. */
export function averageMonthlyBalance(account: DepositAccount, months: readonly string[]): Paise {
  return roundHalfEven(averageOverMonths(account, months))
}

function completeMonths(account: DepositAccount, months: readonly string[]): string[] {
  return months.filter((month) => account.from <= dayOf(month, 1) && account.to >= dayOf(month, daysInMonth(month)))
}

interface Fraction {
  numerator: bigint
  denominator: bigint
}

function averageOverMonths(account: DepositAccount, months: readonly string[]): Fraction {
  const balances = endOfDayBalances(account)
  const total = months
    .map((month) => monthMean(balances, account, month))
    .reduce(add, { numerator: 0n, denominator: 1n })
  return { numerator: total.numerator, denominator: total.denominator * BigInt(months.length) }
}

function monthMean(balances: ReadonlyMap<string, Paise>, account: DepositAccount, month: string): Fraction {
  const days = daysInMonth(month)
  let balance = balanceBefore(balances, account, dayOf(month, 1))
  let sum = 0n
  for (let day = 1; day <= days; day++) {
    balance = balances.get(dayOf(month, day)) ?? balance
    sum += BigInt(balance)
  }
  return { numerator: sum, denominator: BigInt(days) }
}

// Last balance of each day in Indian time; transactions of equal time keep the order of the file.
function endOfDayBalances(account: DepositAccount): Map<string, Paise> {
  const ordered = account.transactions.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return new Map(ordered.map((transaction) => [indianDay(Date.parse(transaction.at)), transaction.balancePaise]))
}

function balanceBefore(balances: ReadonlyMap<string, Paise>, account: DepositAccount, day: string): Paise {
  for (let at = addDays(day, -1); at >= account.from; at = addDays(at, -1)) {
    const balance = balances.get(at)
    if (balance !== undefined) return balance
  }
  return openingBalance(account)
}

// Before the first transaction the balance is that of the transaction minus its amount.
function openingBalance(account: DepositAccount): Paise {
  const [first] = account.transactions.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return first ? first.balancePaise - first.signedPaise : account.currentBalancePaise
}

function add(a: Fraction, b: Fraction): Fraction {
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  }
}

function roundHalfEven(value: Fraction): Paise {
  return Number(divideHalfEven(value.numerator, value.denominator))
}
