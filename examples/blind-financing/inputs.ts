/** These values never leave the program. */
export interface Receivable {
  supplierGstin: string
  buyerGstin: string
  documentType: 'INV' | 'CRN' | 'DBN'
  documentNumber: string
  /** `YYYY-MM-DD`, Indian time */
  documentDate: string
  totalInr: number
}

const SEPARATOR = '\u001f'

/**
 * Returns the values to blind. Equal values mean: the same document, nearly the same document, the same parties with
 * date and amount.
 */
export function inputsOf(receivable: Receivable): [rf1: string, rf2: string, rf3: string] {
  const { documentType, documentNumber, documentDate, totalInr } = receivable
  const [supplier, buyer] = [receivable.supplierGstin.toUpperCase(), receivable.buyerGstin.toUpperCase()]
  const number = documentNumber.normalize('NFKC').replace(/\s/g, '').toUpperCase()
  const loose = number.replace(/(?<![0-9])0+(?=[0-9])/g, '').replace(/[^\p{L}\p{N}]/gu, '')
  // Characters 3 to 12 of a tax registration are the PAN.
  const pans = [supplier.slice(2, 12), buyer.slice(2, 12)]
  return [
    ['RSP-RF1', supplier, financialYear(documentDate), documentType, number].join(SEPARATOR),
    ['RSP-RF2', ...pans, loose].join(SEPARATOR),
    ['RSP-RF3', ...pans, documentDate, String(Math.floor(totalInr))].join(SEPARATOR),
  ]
}

/** April to March: `2026-27` for the first of May 2026. */
function financialYear(date: string): string {
  const [year = 0, month = 0] = date.split('-').map(Number)
  const start = month >= 4 ? year : year - 1
  return `${start}-${String((start + 1) % 100).padStart(2, '0')}`
}
