import { financialYear } from '../identifiers/financial-year.ts'
import { panOfGstin } from '../identifiers/gstin.ts'
import type { DocumentType } from '../identifiers/irn.ts'
import type { Paise } from '../packs/money.ts'

/** GSTINs are normalised; `documentDate` is `YYYY-MM-DD` in Indian time. */
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

// Occurs in no field: identifiers and dates have only printable characters, and normalisedNumber removes control characters.
const SEPARATOR = '\u001f'

/** The exact identity: the four fields that an IRN consists of (docs/spec/evidence-families.md#receivables-and-fingerprints). */
export function rf1Input({ supplierGstin, documentType, documentNumber, documentDate }: ReceivableIdentity): string {
  const number = normalisedNumber(documentNumber)
  return ['RSP-RF1', supplierGstin, financialYear(documentDate), documentType, number].join(SEPARATOR)
}

/** The exact identity in readable form: supplier, financial year, type, number. */
export function receivableName(
  receivable: Pick<ReceivableIdentity, 'supplierGstin' | 'documentType' | 'documentNumber' | 'documentDate'>,
): string {
  return rf1Input({ ...receivable, buyerGstin: '', totalPaise: 0 })
    .split(SEPARATOR)
    .slice(1)
    .join('|')
}

/** The near identity: "INV-1" and "INV/0001" between the same legal entities match. */
export function rf2Input({ supplierGstin, buyerGstin, documentNumber }: ReceivableIdentity): string {
  const number = looseNumber(documentNumber)
  return ['RSP-RF2', panOfGstin(supplierGstin), panOfGstin(buyerGstin), number].join(SEPARATOR)
}

/** The economic identity: finds the same receivable with another number by parties, date and whole rupees. */
export function rf3Input({ supplierGstin, buyerGstin, documentDate, totalPaise }: ReceivableIdentity): string {
  const rupees = String(Math.floor(totalPaise / 100))
  return ['RSP-RF3', panOfGstin(supplierGstin), panOfGstin(buyerGstin), documentDate, rupees].join(SEPARATOR)
}

const DAY_MS = 86_400_000

/** Parties, week (counted from 1970-01-01) and the three leading digits of the amount. */
export function rf4Input(receivable: ReceivableIdentity): string {
  return rf4InputOf(receivable, weekOf(receivable), amountKeyOf(receivable.totalPaise))
}

/** Nine combinations of neighbouring weeks and amounts, including the receivable's own. */
export function rf4WindowInputs(receivable: ReceivableIdentity): string[] {
  const week = weekOf(receivable)
  const amounts = neighbouringAmounts(amountKeyOf(receivable.totalPaise))
  return [week - 1, week, week + 1].flatMap((near) => amounts.map((amount) => rf4InputOf(receivable, near, amount)))
}

/** An amount in rupees is about `mantissa` × 10^`exponent`; `mantissa` holds its three leading digits. */
interface AmountKey {
  exponent: number
  mantissa: number
}

/** Drops the last digits of the whole rupees until at most three remain. */
export function amountKeyOf(paise: Paise): AmountKey {
  let mantissa = Math.floor(paise / 100)
  let exponent = 0
  for (; mantissa >= 1000; exponent++) mantissa = Math.floor(mantissa / 10)
  return { exponent, mantissa }
}

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

/** With a number the match is exact. Without one, equal parties and value only suggest the same order. */
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

/** NFKC and upper case, without white space and control characters, which include the separator. */
function normalisedNumber(number: string): string {
  return number
    .normalize('NFKC')
    .replace(/[\s\p{Cc}]/gu, '')
    .toUpperCase()
}

// Removes leading zeros of each group of digits first, then punctuation: "10/05" and "10/5" match, "1/005" and "1005" differ.
function looseNumber(number: string): string {
  return normalisedNumber(number)
    .replace(/(?<![0-9])0+(?=[0-9])/g, '')
    .replace(/[^\p{L}\p{N}]/gu, '')
}
