import { z } from 'zod'
import { toInr } from '../packs/money.ts'
import { ledgerWindow } from '../packs/signals/trade-ledger.ts'
import type { RegistryResult } from '../registries/connector.ts'
import type { TradeLedger } from '../registries/registry-data.ts'
import type { AcceptanceAction } from './acceptance.ts'
import { relationshipDilution } from './dilution.ts'

/** Increased when a threshold changes, so that a response names its rules. */
const POLICY_VERSION = 'dilution-1'

const OBSERVATIONS = {
  CREDIT_NOTES_HIGH: 'credit notes are at least 5 % of the invoiced amount',
  CREDIT_NOTE_SPIKE: 'one month has at least 20 % and three times the overall share',
  NOTE_LARGE: 'a credit note is at least 25 % of its invoice',
  SILENT_ACCEPTANCE: 'at least 80 % of five or more were accepted by silence',
  REJECTIONS: 'the buyer rejected documents',
  DISPUTE_OPEN: 'a dispute is open',
} as const

const nullableInt = z.int().nullable()

export const AntiDilutionSchema = z
  .object({
    supplierGstin: z.string(),
    buyerGstin: z.string(),
    window: z.object({ from: z.string(), to: z.string() }).nullable(),
    monthsKnown: nullableInt,
    invoiceCount: nullableInt,
    grossValueInr: z.number().nullable(),
    creditNoteCount: nullableInt,
    creditNoteValueInr: z.number().nullable(),
    creditNoteRatioBps: nullableInt,
    creditNoteRatio: z.number().nullable(),
    worstMonth: z.object({ month: z.string(), ratioBps: z.int() }).nullable(),
    creditInMonthsWithoutSalesInr: z
      .number()
      .nullable()
      .meta({ description: 'credit notes of known months without invoices' }),
    amendedInvoiceCount: nullableInt.meta({ description: 'invoices of the window that a later return changed' }),
    linked: z
      .object({ notes: z.int(), medianDaysInvoiceToNote: z.number(), above5PercentCount: z.int() })
      .nullable()
      .meta({ description: 'of credit notes recorded here; returns do not link notes to invoices' }),
    acceptance: z.object({ accepted: z.int(), deemed: z.int(), rejected: z.int(), pending: z.int() }),
    disputes: z.object({ open: z.int(), valueInr: z.number() }),
    observations: z.array(
      z.object({ code: z.string(), observed: z.number(), threshold: z.number(), text: z.string() }),
    ),
    tier: z.string(),
    missingReason: z.string().nullable(),
    policyVersion: z.string(),
    observedAt: z.string(),
  })
  .meta({ id: 'AntiDilution' })

export type AntiDilution = z.output<typeof AntiDilutionSchema>

interface SupplierHistory {
  actions: readonly AcceptanceAction[]
  notes: readonly { paise: number; amountPaise: number; days: number }[]
  disputes: readonly number[]
}

/** Reports figures and thresholds, without advice (docs/spec/evidence-families.md#acceptance-records). */
export function antiDilution(
  pair: { supplierGstin: string; buyerGstin: string },
  result: RegistryResult<TradeLedger>,
  history: SupplierHistory,
): AntiDilution {
  const count = (action: AcceptanceAction) => history.actions.filter((known) => known === action).length
  const acceptance = {
    accepted: count('ACCEPTED'),
    deemed: count('DEEMED_ACCEPTED'),
    rejected: count('REJECTED'),
    pending: count('PENDING'),
  }
  const returns = returnsOf(result)
  const actionCount = history.actions.length
  const open = history.disputes.length
  const share = (paise: number, total: number) => (total === 0 ? 0 : Math.floor((paise * 10_000) / total))
  const largest = history.notes.reduce((most, note) => Math.max(most, share(note.paise, note.amountPaise)), 0)
  const observed = (code: keyof typeof OBSERVATIONS, isSeen: boolean, figure: number, threshold: number) =>
    isSeen ? [{ code, observed: figure, threshold, text: OBSERVATIONS[code] }] : []
  return {
    ...pair,
    ...returns.figures,
    linked: linkedOf(history.notes),
    acceptance,
    disputes: { open, valueInr: toInr(history.disputes.reduce((sum, paise) => sum + paise, 0)) },
    observations: [
      ...observed('CREDIT_NOTES_HIGH', returns.isHigh, returns.figures.creditNoteRatioBps ?? 0, 500),
      ...observed('CREDIT_NOTE_SPIKE', returns.isSpike, returns.figures.worstMonth?.ratioBps ?? 0, 2_000),
      ...observed('NOTE_LARGE', largest >= 2_500, largest, 2_500),
      ...observed(
        'SILENT_ACCEPTANCE',
        actionCount >= 5 && acceptance.deemed * 5 >= actionCount * 4,
        acceptance.deemed,
        actionCount,
      ),
      ...observed('REJECTIONS', acceptance.rejected > 0, acceptance.rejected, 1),
      ...observed('DISPUTE_OPEN', open > 0, open, 1),
    ],
    tier: returns.isKnown ? result.tier : 'MISSING',
    missingReason: returns.isKnown ? result.missingReason : (result.missingReason ?? 'NOT_ENTITLED'),
    policyVersion: POLICY_VERSION,
    observedAt: result.observedAt,
  }
}

const UNKNOWN = {
  window: null,
  monthsKnown: null,
  invoiceCount: null,
  grossValueInr: null,
  creditNoteCount: null,
  creditNoteValueInr: null,
  creditNoteRatioBps: null,
  creditNoteRatio: null,
  worstMonth: null,
  creditInMonthsWithoutSalesInr: null,
  amendedInvoiceCount: null,
}

function returnsOf(result: RegistryResult<TradeLedger>) {
  // A source without notes and amendments does not show that the share is 0.
  if (result.status !== 'OK' || result.data.hasNotes === false) {
    return { figures: UNKNOWN, isHigh: false, isSpike: false, isKnown: false }
  }
  const window = ledgerWindow(result.data, Date.parse(result.observedAt))
  const dilution = relationshipDilution(
    window.months.map((month, index) => ({ month, ...(window.movements[index] ?? { gross: null }) })),
  )
  const { ratioBps, isHigh, isSpike } = dilution
  const figures = {
    window: { from: window.months[0] ?? '', to: window.months.at(-1) ?? '' },
    monthsKnown: dilution.monthsKnown,
    invoiceCount: window.invoices.length,
    grossValueInr: toInr(Number(dilution.gross)),
    creditNoteCount: window.creditNotes,
    creditNoteValueInr: toInr(Number(dilution.credit)),
    creditNoteRatioBps: ratioBps,
    creditNoteRatio: ratioBps === null ? null : ratioBps / 10_000,
    worstMonth: dilution.worst,
    creditInMonthsWithoutSalesInr: toInr(Number(dilution.creditWithoutSales)),
    amendedInvoiceCount: window.amendedInvoices,
  }
  return { figures, isHigh, isSpike, isKnown: true }
}

function linkedOf(notes: SupplierHistory['notes']): AntiDilution['linked'] {
  if (notes.length === 0) return null
  const days = notes.map((note) => note.days).toSorted((a, b) => a - b)
  const middle = Math.floor(days.length / 2)
  const upper = days[middle] ?? 0
  return {
    notes: notes.length,
    medianDaysInvoiceToNote: days.length % 2 === 1 ? upper : ((days[middle - 1] ?? upper) + upper) / 2,
    above5PercentCount: notes.filter(({ paise, amountPaise }) => paise * 20 > amountPaise).length,
  }
}
