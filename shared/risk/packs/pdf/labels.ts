import { withoutCodes, words } from './figures.ts'

/** Names that stay as they are in the words of a code. */
const ABBREVIATIONS = ['AA', 'CERSAI', 'CIN', 'EPFO', 'GST', 'GSTIN', 'GSTR1', 'LEI', 'MCA', 'PAN']

/** The code of a source as people read it: `GST_TAXPAYER_SEARCH` is `GST taxpayer search`. The attached JSON has the code. */
export function sourceName(code: string): string {
  const text = code
    .split('_')
    .map((part) => (ABBREVIATIONS.includes(part) || /\d/.test(part) ? part : part.toLowerCase()))
    .join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const REASONS: Readonly<Record<string, string>> = {
  NO_CONSENT: 'no consent',
  NOT_FOUND: 'no record',
  NOT_ENTITLED: 'no access to the registry',
  UPSTREAM_ERROR: 'the registry failed',
  UNPARSEABLE: 'unreadable answer',
}

/** `Missing: no record`. @param reason code of the contract; null where none is given */
export function missingText(reason: string | null): string {
  return reason === null ? 'Missing' : `Missing: ${REASONS[reason] ?? words(reason)}`
}

/** The class of a question in words: `depth, primary`. */
export function gradeText(grade: string): string {
  return words(grade).replace(' ', ', ')
}

/** What the values are called that the flags of a pack name by their place in its JSON; longer places first. */
const NAMES: readonly (readonly [path: string, name: string])[] = [
  ['tradeRelationship.ab.trend', 'Trend of the buyer to borrower trade'],
  ['tradeRelationship.bc.trend', 'Trend of the borrower to subcontractor trade'],
  ['tradeRelationship.ab', 'Buyer to borrower trade'],
  ['tradeRelationship.bc', 'Borrower to subcontractor trade'],
  ['borrowerCapacity.annualTurnoverInr', 'Annual turnover of the borrower'],
  ['borrowerCapacity.activeEmployeeCount', 'Number of employees of the borrower'],
  ['subcontractorCapacity.annualTurnoverInr', 'Annual turnover of the subcontractor'],
  ['subcontractorCapacity.activeEmployeeCount', 'Number of employees of the subcontractor'],
  ['doubleFinancing.cersai', 'Search for registered charges'],
  ['doubleFinancing', 'Double-financing check'],
  ['aaCashflow', 'Account cash flow'],
]

/** Codes that repeat in brackets what the sentence says, or are one word in capitals. */
const IN_BRACKETS = / \([A-Z]+(?:_[A-Z]+)*\)/g
const STATUS = /\b(?:is|registry:) [A-Z]{4,}\b/g

/** A flag of a pack as people read it: the codes of the contract, which the JSON has, in words. */
export function flagText(flag: string): string {
  const [path, name] = NAMES.find(([start]) => flag.startsWith(start)) ?? ['', '']
  return withoutCodes(name + flag.slice(path.length).replace(IN_BRACKETS, '')).replace(STATUS, words)
}
