import { financialYear } from '../identifiers/financial-year.ts'
import { panOfGstin } from '../identifiers/gstin.ts'
import type { DocumentType } from '../identifiers/irn.ts'
import type { Paise } from '../packs/money.ts'

/** A receivable as a lender describes it. GSTINs are normalised; `documentDate` is `YYYY-MM-DD` in Indian time. */
export interface ReceivableIdentity {
  supplierGstin: string
  buyerGstin: string
  documentType: DocumentType
  documentNumber: string
  documentDate: string
  totalPaise: Paise
}

export interface OrderIdentity {
  buyerGstin: string
  borrowerGstin: string
  subcontractorGstin: string
  poNumber?: string | undefined
  poValuePaise: Paise
}

// Cannot occur in any field: identifiers and dates are plain ASCII, and numbers lose their control characters.
const SEPARATOR = '\u001f'

/** Exact identity: the material of the IRN, so invoices with and without one meet (docs/spec/evidence-families.md#receivables-and-fingerprints). */
export function rf1Input({ supplierGstin, documentType, documentNumber, documentDate }: ReceivableIdentity): string {
  const number = normalisedNumber(documentNumber)
  return ['RSP-RF1', supplierGstin, financialYear(documentDate), documentType, number].join(SEPARATOR)
}

/** The same in plain words, for what an organisation keeps of its own: supplier, financial year, type, number. */
export function receivableName(
  receivable: Pick<ReceivableIdentity, 'supplierGstin' | 'documentType' | 'documentNumber' | 'documentDate'>,
): string {
  return rf1Input({ ...receivable, buyerGstin: '', totalPaise: 0 })
    .split(SEPARATOR)
    .slice(1)
    .join('|')
}

/** Near identity: "INV-1" and "INV/0001" between the same legal entities meet. */
export function rf2Input({ supplierGstin, buyerGstin, documentNumber }: ReceivableIdentity): string {
  const number = looseNumber(documentNumber)
  return ['RSP-RF2', panOfGstin(supplierGstin), panOfGstin(buyerGstin), number].join(SEPARATOR)
}

/** Economic identity: catches renumbering. The total counts in whole rupees, paise cut. */
export function rf3Input({ supplierGstin, buyerGstin, documentDate, totalPaise }: ReceivableIdentity): string {
  const rupees = String(Math.floor(totalPaise / 100))
  return ['RSP-RF3', panOfGstin(supplierGstin), panOfGstin(buyerGstin), documentDate, rupees].join(SEPARATOR)
}

const DAY_MS = 86_400_000

/** Economic identity by week and size: the week counts from 1970-01-01, the amount in three digits. */
export function rf4Input(receivable: ReceivableIdentity): string {
  return rf4InputOf(receivable, weekOf(receivable), amountKeyOf(receivable.totalPaise))
}

/** The nine neighbours in week and size, the receivable's own among them. */
export function rf4WindowInputs(receivable: ReceivableIdentity): string[] {
  const week = weekOf(receivable)
  const amounts = neighbouringAmounts(amountKeyOf(receivable.totalPaise))
  return [week - 1, week, week + 1].flatMap((at) => amounts.map((amount) => rf4InputOf(receivable, at, amount)))
}

/** Three significant digits of an amount: whole rupees are `mantissa` times ten to the `exponent`, cut. */
interface AmountKey {
  exponent: number
  mantissa: number
}

/** Divides whole rupees by ten, dropping remainders, until they are below 1,000. */
export function amountKeyOf(paise: Paise): AmountKey {
  let mantissa = Math.floor(paise / 100)
  let exponent = 0
  for (; mantissa >= 1000; exponent++) mantissa = Math.floor(mantissa / 10)
  return { exponent, mantissa }
}

/** Below, itself and above; a step over the end of the three digits changes the exponent. */
function neighbouringAmounts({ exponent, mantissa }: AmountKey): AmountKey[] {
  const above = mantissa === 999 ? { exponent: exponent + 1, mantissa: 100 } : { exponent, mantissa: mantissa + 1 }
  const isLowest = mantissa === 100 && exponent > 0
  const below = isLowest ? { exponent: exponent - 1, mantissa: 999 } : { exponent, mantissa: mantissa - 1 }
  return [below, { exponent, mantissa }, above]
}

function weekOf({ documentDate }: ReceivableIdentity): number {
  return Math.floor(Date.parse(documentDate) / DAY_MS / 7)
}

function rf4InputOf({ supplierGstin, buyerGstin }: ReceivableIdentity, week: number, amount: AmountKey): string {
  const key = `${amount.exponent}:${amount.mantissa}`
  return ['RSP-RF4', panOfGstin(supplierGstin), panOfGstin(buyerGstin), String(week), key].join(SEPARATOR)
}

/**
 * Identity of a purchase order. With a number it is exact between two legal entities; without one it is the parties and
 * the value, a possible match only, under a tag of its own so that the two never meet.
 */
export function po1Input(order: OrderIdentity): { input: string; isExact: boolean } {
  const { buyerGstin, borrowerGstin, subcontractorGstin, poNumber, poValuePaise } = order
  const value = String(poValuePaise)
  if (poNumber === undefined) {
    const fields = ['RSP-PO1-PARTIES', buyerGstin, borrowerGstin, subcontractorGstin, value]
    return { input: fields.join(SEPARATOR), isExact: false }
  }
  const fields = ['RSP-PO1', panOfGstin(buyerGstin), panOfGstin(borrowerGstin), normalisedNumber(poNumber), value]
  return { input: fields.join(SEPARATOR), isExact: true }
}

/** NFKC, upper case, no white space; control characters go too, so that no number can forge a field border. */
function normalisedNumber(number: string): string {
  return number
    .normalize('NFKC')
    .replace(/[\s\p{Cc}]/gu, '')
    .toUpperCase()
}

// Zeros go before punctuation, so that "10/05" and "10/5" meet while "1/005" and "1005" stay apart.
function looseNumber(number: string): string {
  return normalisedNumber(number)
    .replace(/(?<![0-9])0+(?=[0-9])/g, '')
    .replace(/[^\p{L}\p{N}]/gu, '')
}
