import { createHash } from 'node:crypto'
import { financialYear } from './financial-year.ts'
import { type IdentifierResult, normaliseLower } from './identifier.ts'

export type DocumentType = 'INV' | 'CRN' | 'DBN'

/** Identity of an e-invoice (docs/spec/risk-signals.md#irn). `documentDate` is `YYYY-MM-DD` in Indian time. */
export interface IrnDocument {
  supplierGstin: string
  documentType: DocumentType
  documentNumber: string
  documentDate: string
}

/** The portals change the case before hashing. */
export type IrnCaseRule = 'UPPER_CASED' | 'CASE_PRESERVED'

/** Portals convert to upper case from this date on (advisory of 4 April 2025). */
const UPPER_CASE_SINCE = '2025-06-01'
const SWITCH_TOLERANCE_DAYS = 7

/** Converts upper-case hexadecimal to lower case. */
export function validateIrn(input: string): IdentifierResult<Record<never, never>, 'LENGTH' | 'FORMAT'> {
  const value = normaliseLower(input)
  if (value.length !== 64) return { valid: false, value, reason: 'LENGTH' }
  if (!/^[0-9a-f]{64}$/.test(value)) return { valid: false, value, reason: 'FORMAT' }
  return { valid: true, value, parts: {}, warnings: [] }
}

/** At most 16 letters, digits, `/`, `-`; keeps the case, which matters for older documents. */
export function validateDocumentNumber(value: string): IdentifierResult<Record<never, never>, 'LENGTH' | 'FORMAT'> {
  if (value.length < 1 || value.length > 16) return { valid: false, value, reason: 'LENGTH' }
  if (!/^[1-9A-Za-z][0-9A-Za-z/-]*$/.test(value)) return { valid: false, value, reason: 'FORMAT' }
  return { valid: true, value, parts: {}, warnings: [] }
}

function irnCaseRule(documentDate: string): IrnCaseRule {
  return documentDate >= UPPER_CASE_SINCE ? 'UPPER_CASED' : 'CASE_PRESERVED'
}

export function irnHashInput(document: IrnDocument, rule: IrnCaseRule = irnCaseRule(document.documentDate)): string {
  const number = rule === 'UPPER_CASED' ? document.documentNumber.toUpperCase() : document.documentNumber
  return `${document.supplierGstin}${financialYear(document.documentDate)}${document.documentType}${number}`
}

export function computeIrn(document: IrnDocument, rule: IrnCaseRule = irnCaseRule(document.documentDate)): string {
  return createHash('sha256').update(irnHashInput(document, rule)).digest('hex')
}

/** Tries both rules within seven days of the change. Returns `undefined` for IRN_MISMATCH. */
export function matchIrn(irn: string, document: IrnDocument): IrnCaseRule | undefined {
  const rule = irnCaseRule(document.documentDate)
  const written = normaliseLower(irn)
  if (computeIrn(document, rule) === written) return rule
  const other: IrnCaseRule = rule === 'UPPER_CASED' ? 'CASE_PRESERVED' : 'UPPER_CASED'
  return isNearSwitch(document.documentDate) && computeIrn(document, other) === written ? other : undefined
}

function isNearSwitch(documentDate: string): boolean {
  const days = Math.abs(Date.parse(documentDate) - Date.parse(UPPER_CASE_SINCE)) / 86_400_000
  return days <= SWITCH_TOLERANCE_DAYS
}
