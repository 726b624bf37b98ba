import { createHash } from 'node:crypto'
import { panOfGstin } from '../../identifiers/gstin.ts'
import { addMonths, dayOf, indianDay, type Paise } from '../../packs/money.ts'
import { returnWindow } from '../../packs/signals/return-window.ts'
import { scenarioOfPan } from './scenarios.ts'

export interface DemoInvoice {
  number: string
  date: string
  valuePaise: Paise
}

export interface DemoPeriod {
  period: string
  isFiled: boolean
  invoices: DemoInvoice[]
  creditNote: DemoInvoice | null
}

// Eight filed periods: one fewer than a trend needs.
const UNFILED_PERIODS = 4

/** Computed backwards, so that counts and trend stay constant. Packs ignore scenarios of other families. */
export function demoTrade(
  seed: string,
  supplierGstin: string,
  recipientGstin: string,
  nowMs: number,
  isPack = true,
): DemoPeriod[] {
  const pair = `${supplierGstin}>${recipientGstin}`
  const scenarios = [scenarioOfPan(panOfGstin(supplierGstin)), scenarioOfPan(panOfGstin(recipientGstin))]
  const basePaise = demoInt(seed, pair, 'invoiceValue', 10_000, 40_000) * 10_000
  const growing = demoInt(seed, pair, 'trend', 0, 1) === 1
  const recentPercent = scenarios.includes('DECLINING') ? 60 : growing ? 130 : 100
  const isDiluted = !isPack && scenarios[0] === 'CREDIT_NOTES'
  const firstFiled = scenarios.includes('TOO_FEW_PERIODS') ? UNFILED_PERIODS : 0
  return returnWindow(nowMs).map((period, slot) => {
    const percent = slot < 6 ? 100 : recentPercent
    // Equal counts in both halves, so that only the percentage decides the trend.
    const count = demoInt(seed, pair, `invoices${slot % 6}`, 2, 4)
    const valuePaise = (basePaise / 100) * percent
    const invoices = Array.from({ length: count }, (_, index) => ({
      number: `SB-${period.replace('-', '')}-${index + 1}`,
      date: dayOf(period, 5 + 7 * index),
      valuePaise,
    }))
    const creditNote =
      slot % 6 === 2
        ? { number: `SC-${period.replace('-', '')}-1`, date: dayOf(period, 26), valuePaise: valuePaise / 100 }
        : null
    return {
      period,
      isFiled: slot >= firstFiled,
      invoices,
      creditNote: isDiluted ? shareOf(period, invoices, DILUTED_PERCENT) : creditNote,
    }
  })
}

/** Scenario 44: percentage of each month that its supplier reverses. */
const DILUTED_PERCENT = 12

function shareOf(period: string, invoices: readonly DemoInvoice[], percent: number): DemoInvoice {
  const total = invoices.reduce((sum, { valuePaise }) => sum + valuePaise, 0)
  return { number: `SC-${period.replace('-', '')}-1`, date: dayOf(period, 26), valuePaise: (total / 100) * percent }
}

/** The first invoice of the latest due period. */
export function latestDemoInvoice(
  seed: string,
  supplierGstin: string,
  recipientGstin: string,
  nowMs: number,
): DemoInvoice {
  const invoice = demoTrade(seed, supplierGstin, recipientGstin, nowMs).at(-1)?.invoices[0]
  if (!invoice) throw new RangeError('the demo trade has no invoice')
  return invoice
}

export function demoFirstSeenMonth(nowMs: number): string {
  return addMonths(indianDay(nowMs), -1)
}

/** Both ends included, from SHA-256(seed | subject | field). */
export function demoInt(seed: string, subject: string, field: string, from: number, to: number): number {
  const digest = createHash('sha256').update(`${seed}|${subject}|${field}`).digest()
  return from + (digest.readUIntBE(0, 6) % (to - from + 1))
}

export function demoDigits(seed: string, subject: string, field: string, count: number): string {
  return String(demoInt(seed, subject, field, 0, 10 ** count - 1)).padStart(count, '0')
}

export function demoHash(seed: string, subject: string, field: string): string {
  return createHash('sha256').update(`${seed}|${subject}|${field}`).digest('hex')
}
