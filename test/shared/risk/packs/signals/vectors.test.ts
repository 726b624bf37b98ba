import { readFileSync } from 'node:fs'
import test from 'ava'
import { addDays, addMonths, monthsFrom, type Paise, parsePaise } from '#shared/risk/packs/money.ts'
import { averageMonthlyBalance, balanceTier } from '#shared/risk/packs/signals/account-cashflow.ts'
import { capacity } from '#shared/risk/packs/signals/capacity.ts'
import { tradeTrend } from '#shared/risk/packs/signals/trade-relationship.ts'

interface Vectors {
  trend: { name: string; monthlyPaise: (number | null)[]; trend: string }[]
  capacity: {
    orderValueInr: number
    annualTurnoverInr: number | null
    activeEmployeeCount: number | null
    capacityRating: string
    reasonCodes: string[]
  }[]
  balanceTier: { avgMonthlyBalance: number; balanceTier: string }[]
  averageMonthlyBalance: {
    name: string
    openingPaise: number
    signedTransactionsPaise: { date: string; amount: number }[]
    from: string
    to: string
    monthlyAveragePaise: Record<string, number>
    avgMonthlyBalancePaise: number
  }[]
}

// The file has a fixed shape, which JSON.parse does not know.
const vectors = JSON.parse(
  readFileSync(new URL('../../../../vectors/signals.json', import.meta.url), 'utf8'),
) as Vectors

function paise(amount: number): Paise {
  const value = parsePaise(amount)
  if (value === undefined) throw new Error(`${amount} is not an amount`)
  return value
}

for (const { name, monthlyPaise, trend } of vectors.trend) {
  test(`trend: ${name} is ${trend}`, (t) => t.is<string, string>(tradeTrend(monthlyPaise), trend))
}

for (const row of vectors.capacity) {
  const title = `order ${row.orderValueInr}, turnover ${row.annualTurnoverInr}, ${row.activeEmployeeCount} employees`
  test(`capacity: ${title} is ${row.capacityRating}`, (t) => {
    const result = capacity({
      subject: 'BORROWER',
      orderPaise: paise(row.orderValueInr),
      turnoverPaise: row.annualTurnoverInr === null ? null : paise(row.annualTurnoverInr),
      activeEmployeeCount: row.activeEmployeeCount,
      hasOtherRegistrations: false,
      isNewRegistration: false,
    })
    t.is<string, string>(result.capacityRating, row.capacityRating)
    t.deepEqual(
      result.innocentExplanations.map((text) => text.split(':')[0]),
      row.reasonCodes,
    )
    t.is(result.annualTurnoverInr, row.annualTurnoverInr)
  })
}

for (const row of vectors.balanceTier) {
  test(`an average balance of ${row.avgMonthlyBalance} is ${row.balanceTier}`, (t) => {
    t.is<string, string>(balanceTier(paise(row.avgMonthlyBalance)), row.balanceTier)
  })
}

for (const row of vectors.averageMonthlyBalance) {
  test(`average monthly balance: ${row.name}`, (t) => {
    let balance = row.openingPaise
    const transactions = row.signedTransactionsPaise.map(({ date, amount }) => {
      balance += amount
      return { at: `${date}T09:00:00+05:30`, signedPaise: amount, balancePaise: balance }
    })
    const account = {
      ref: 'a',
      type: 'CURRENT',
      facility: null,
      currentBalancePaise: balance,
      from: row.from,
      to: row.to,
      transactions,
    }
    const months = Object.keys(row.monthlyAveragePaise)
    for (const [month, expected] of Object.entries(row.monthlyAveragePaise)) {
      t.is(averageMonthlyBalance(account, [month]), expected)
    }
    t.is(averageMonthlyBalance(account, months), row.avgMonthlyBalancePaise)
    t.deepEqual(months, monthsFrom(row.from.slice(0, 7), months.length))
    t.is<string | undefined, string | undefined>(addMonths(addDays(row.to, 1), -1), months.at(-1))
  })
}
