import { words } from './figures.ts'

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
