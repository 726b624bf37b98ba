import { withoutCodes, words } from './figures.ts'

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
