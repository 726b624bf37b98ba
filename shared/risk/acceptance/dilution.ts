import { hash } from 'node:crypto'
import { divideHalfEven } from '../packs/money.ts'

export const ADJUSTMENT_KINDS = [
  'CREDIT_NOTE',
  'DEBIT_NOTE',
  'PAYMENT',
  'SET_OFF',
  'SHORT_PAYMENT',
  'REBATE',
  'RETURN',
  'DISPUTE_OPENED',
  'DISPUTE_CLOSED',
] as const

export type AdjustmentKind = (typeof ADJUSTMENT_KINDS)[number]

/** Adjustments that reduce a receivable without a payment. */
const REDUCTIONS: ReadonlySet<AdjustmentKind> = new Set(['CREDIT_NOTE', 'SET_OFF', 'SHORT_PAYMENT', 'REBATE', 'RETURN'])

export interface ReceivableDilution {
  dilutedPaise: bigint
  dilutionBps: number | null
  outstandingPaise: bigint
}

/** Payments do not count (docs/spec/evidence-families.md#acceptance-records). */
export function receivableDilution(
  amountPaise: bigint,
  adjustments: readonly { kind: AdjustmentKind; paise: bigint }[],
): ReceivableDilution {
  const sum = (isOf: (kind: AdjustmentKind) => boolean) =>
    adjustments.reduce((total, { kind, paise }) => (isOf(kind) ? total + paise : total), 0n)
  const owed = amountPaise + sum((kind) => kind === 'DEBIT_NOTE')
  const reduced = sum((kind) => REDUCTIONS.has(kind))
  const dilutedPaise = reduced < owed ? reduced : owed
  return {
    dilutedPaise,
    dilutionBps: owed > 0n ? Number(divideHalfEven(dilutedPaise * 10_000n, owed)) : null,
    outstandingPaise: owed - reduced - sum((kind) => kind === 'PAYMENT'),
  }
}

/** Paise of a month of a supplier's return about one buyer; null when unknown. */
export type DilutionMonth = { month: string; gross: bigint; credit: bigint } | { month: string; gross: null }

export interface RelationshipDilution {
  monthsKnown: number
  gross: bigint
  credit: bigint
  /** null below nine known months, or without sales */
  ratioBps: number | null
  worst: { month: string; ratioBps: number } | null
  creditWithoutSales: bigint
  isHigh: boolean
  isSpike: boolean
}

const KNOWN_MONTHS = 9
const HIGH_BPS = 500n
const SPIKE_BPS = 2_000n
const SPIKE_FACTOR = 3n

/** Compares thresholds without rounding. */
export function relationshipDilution(months: readonly DilutionMonth[]): RelationshipDilution {
  const known = months.flatMap((month) => (month.gross === null ? [] : [month]))
  const gross = known.reduce((total, month) => total + month.gross, 0n)
  const credit = known.reduce((total, month) => total + month.credit, 0n)
  const creditWithoutSales = known.reduce((total, month) => (month.gross > 0n ? total : total + month.credit), 0n)
  const isRated = known.length >= KNOWN_MONTHS && gross > 0n
  const worst = isRated ? worstOf(known) : null
  return {
    monthsKnown: known.length,
    gross,
    credit,
    ratioBps: isRated ? Number(divideHalfEven(credit * 10_000n, gross)) : null,
    worst: worst && { month: worst.month, ratioBps: Number(divideHalfEven(worst.credit * 10_000n, worst.gross)) },
    creditWithoutSales,
    isHigh: isRated && credit * 10_000n >= HIGH_BPS * gross,
    isSpike:
      worst !== null &&
      worst.credit * 10_000n >= SPIKE_BPS * worst.gross &&
      worst.credit * gross >= SPIKE_FACTOR * credit * worst.gross,
  }
}

type KnownMonth = Exclude<DilutionMonth, { gross: null }>

function worstOf(months: readonly KnownMonth[]): KnownMonth | null {
  let worst: KnownMonth | null = null
  for (const month of months) {
    if (month.gross <= 0n || month.credit <= 0n) continue
    if (worst === null || month.credit * worst.gross > worst.credit * month.gross) worst = month
  }
  return worst
}

export function pairText({ supplierGstin, buyerGstin }: { supplierGstin: string; buyerGstin: string }): string {
  return `${supplierGstin}>${buyerGstin}`
}

/** Equal requests of an Indian day share one job and one result. */
export function dilutionRequest(pair: { supplierGstin: string; buyerGstin: string }, day: string): Buffer {
  return hash('sha256', `${pairText(pair)}/${day}`, 'buffer')
}
