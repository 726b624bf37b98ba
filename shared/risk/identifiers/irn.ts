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

/** Whether the portals upper-cased the document number before hashing. */
export type IrnCaseRule = 'UPPER_CASED' | 'CASE_PRESERVED'

/** The portals upper-case the number from this date on (advisory of 4 April 2025). */
const UPPER_CASE_SINCE = '2025-06-01'
const SWITCH_TOLERANCE_DAYS = 7

/** Checks the written form of an IRN; upper-case hexadecimal is taken and normalised to lower case. */
export function validateIrn(input: string): IdentifierResult<Record<never, never>, 'LENGTH' | 'FORMAT'> {
  const value = normaliseLower(input)
  if (value.length !== 64) return { valid: false, value, reason: 'LENGTH' }
  if (!/^[0-9a-f]{64}$/.test(value)) return { valid: false, value, reason: 'FORMAT' }
  return { valid: true, value, parts: {}, warnings: [] }
}

/** At most 16 letters, digits, `/`, `-`; not starting with `0`, `/` or `-`. The case is kept: it once mattered. */
export function validateDocumentNumber(value: string): IdentifierResult<Record<never, never>, 'LENGTH' | 'FORMAT'> {
  if (value.length < 1 || value.length > 16) return { valid: false, value, reason: 'LENGTH' }
  if (!/^[1-9A-Za-z][0-9A-Za-z/-]*$/.test(value)) return { valid: false, value, reason: 'FORMAT' }
  return { valid: true, value, parts: {}, warnings: [] }
}

/** The rule that applied on the document's date. */
function irnCaseRule(documentDate: string): IrnCaseRule {
  return documentDate >= UPPER_CASE_SINCE ? 'UPPER_CASED' : 'CASE_PRESERVED'
}

/** The text that is hashed, without separators. */
export function irnHashInput(document: IrnDocument, rule: IrnCaseRule = irnCaseRule(document.documentDate)): string {
  const number = rule === 'UPPER_CASED' ? document.documentNumber.toUpperCase() : document.documentNumber
  return `${document.supplierGstin}${financialYear(document.documentDate)}${document.documentType}${number}`
}

/** The IRN of a document, 64 lower-case hexadecimal characters. */
export function computeIrn(document: IrnDocument, rule: IrnCaseRule = irnCaseRule(document.documentDate)): string {
  return createHash('sha256').update(irnHashInput(document, rule)).digest('hex')
}

/**
 * The rule under which an IRN equals the recomputed hash. Within seven days of the switch the other rule is tried too.
 * @returns `undefined` when the IRN is not this document's (IRN_MISMATCH)
 */
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
