import { withoutCodes, words } from './figures.ts'

const ABBREVIATIONS = ['AA', 'CERSAI', 'CIN', 'EPFO', 'GST', 'GSTIN', 'LEI', 'MCA', 'PAN']

/** Sources that are returns, named as taxpayers know them. */
const RETURNS: Readonly<Record<string, string>> = {
  GSTR1_3B: 'GSTR-1 and GSTR-3B',
  GSTR1_TABLE4: 'GSTR-1, table 4',
  GSTR2B_B2B: 'GSTR-2B, B2B',
}

/** `GST_TAXPAYER_SEARCH` is `GST taxpayer search`. */
export function sourceName(code: string): string {
  const name = RETURNS[code]
  if (name !== undefined) return name
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

/** `Missing: no record` */
export function missingText(reason: string | null): string {
  return reason === null ? 'Missing' : `Missing: ${REASONS[reason] ?? words(reason)}`
}

/** The kinds of question of docs/spec/risk-signals.md#graded-signals. */
const QUESTIONS: Readonly<Record<string, string>> = {
  DEPTH_PRIMARY: 'do the parties trade? Main evidence',
  DEPTH_CORROBORATING: 'do the parties trade? Supporting evidence',
  CAPACITY: 'can the business deliver an order of this value?',
  CONFLICT: 'is there a conflict, for example a common director or a registered charge?',
}

/** The question that a graded signal is about, in words; it is not a finding. */
export function gradeText(grade: string): string {
  return QUESTIONS[grade] ?? words(grade)
}

/** Explains the line `Question: …` of the cards, once per pack. */
export const QUESTION_HINT =
  'The question of a card is fixed and is not a finding. There are four: trade with main evidence, trade with supporting evidence, capacity, conflict.'

/** JSON paths in flags; longer ones first. */
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

/** Codes in brackets that repeat the sentence, and single words in capitals. */
const IN_BRACKETS = / \([A-Z]+(?:_[A-Z]+)*\)/g
const STATUS = /\b(?:is|registry:) [A-Z]{4,}\b/g

/** The JSON has the codes. */
export function flagText(flag: string): string {
  const [path, name] = NAMES.find(([start]) => flag.startsWith(start)) ?? ['', '']
  return withoutCodes(name + flag.slice(path.length).replace(IN_BRACKETS, '')).replace(STATUS, words)
}
