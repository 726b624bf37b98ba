import type { LedgerInvoice } from '../../registries/registry-data.ts'
import { toInr } from '../money.ts'
import type { Leg, TokenCheck, TokenReason } from './e-invoice-token.ts'
import type { InvoiceDocument } from './invoice-document.ts'
import { documentKey, type LedgerWindow } from './trade-ledger.ts'

export interface EInvoice {
  provided: number
  parsed: number
  gstnSigned: number
  abLegCorroborated: boolean
  bcLegCorroborated: boolean
  invoices: EInvoiceEntry[]
}

interface EInvoiceEntry {
  irn: string
  /** null for other parties than those of this request */
  leg: Leg | null
  totalValueInr: number | null
  signatureVerified: boolean
}

/** NOT_HELD: the rows of that period are unavailable. */
type ReturnMatch = 'SAME_VALUE' | 'OTHER_VALUE' | 'ABSENT' | 'NOT_HELD'

export interface AssessedToken {
  check: TokenCheck
  returnMatch: ReturnMatch | null
}

/** Failures that contradict the request (docs/spec/risk-signals.md#signal-level). */
const CONTRADICTIONS: ReadonlySet<TokenReason> = new Set([
  'ALG_NOT_ALLOWED',
  'BAD_SIGNATURE',
  'IRN_MISMATCH',
  'WRONG_PARTIES',
])

const ONE_RUPEE_PAISE = 100

/** A null window means missing return data. */
export function eInvoice(
  checkedTokens: readonly TokenCheck[],
  windows: Readonly<Record<Leg, LedgerWindow | null>>,
): { eInvoice: EInvoice; assessed: AssessedToken[] } {
  const assessed = checkedTokens.map((check) => ({ check, returnMatch: returnMatchOf(check, windows) }))
  const invoices = checkedTokens.flatMap(({ document, leg, signatureVerified }) =>
    document ? [entryOf(document, leg, signatureVerified)] : [],
  )
  const member = {
    provided: checkedTokens.length,
    parsed: invoices.length,
    gstnSigned: checkedTokens.filter((check) => check.signatureVerified).length,
    abLegCorroborated: assessed.some((token) => corroborates(token, 'A_TO_B')),
    bcLegCorroborated: assessed.some((token) => corroborates(token, 'B_TO_C')),
    invoices,
  }
  return { eInvoice: member, assessed }
}

/** An invalid signature, a foreign reference or other parties. */
export function isContradiction({ check }: AssessedToken): boolean {
  return check.reason !== null && CONTRADICTIONS.has(check.reason)
}

/** A valid invoice that the return contains, if available. */
export function corroborates({ check, returnMatch }: AssessedToken, leg: Leg): boolean {
  const isSound = check.reason === null && check.leg === leg && check.document?.documentType === 'INV'
  return isSound && (returnMatch === 'SAME_VALUE' || returnMatch === 'NOT_HELD')
}

function returnMatchOf(
  { document, leg, reason }: TokenCheck,
  windows: Readonly<Record<Leg, LedgerWindow | null>>,
): ReturnMatch | null {
  if (!document || !leg || reason || document.documentType !== 'INV') return null
  const window = windows[leg]
  const filedValue = window?.monthlyPaise[window.months.indexOf(document.documentDate.slice(0, 7))]
  if (!window || filedValue === null || filedValue === undefined) return 'NOT_HELD'
  const key = documentKey(document.documentDate, document.documentNumber)
  const row = window.invoices.find((invoice) => documentKey(invoice.date, invoice.number) === key)
  if (!row) return 'ABSENT'
  return isSameValue(document, row) ? 'SAME_VALUE' : 'OTHER_VALUE'
}

function isSameValue(document: InvoiceDocument, row: LedgerInvoice): boolean {
  return document.totalPaise !== null && Math.abs(document.totalPaise - row.valuePaise) <= ONE_RUPEE_PAISE
}

function entryOf(document: InvoiceDocument, leg: Leg | null, signatureVerified: boolean): EInvoiceEntry {
  const { irn, totalPaise } = document
  return { irn, leg, totalValueInr: totalPaise === null ? null : toInr(totalPaise), signatureVerified }
}
