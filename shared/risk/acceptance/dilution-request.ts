import { hash } from 'node:crypto'

/** What names a pair of supplier and buyer, before the day. */
export function pairText({ supplierGstin, buyerGstin }: { supplierGstin: string; buyerGstin: string }): string {
  return `${supplierGstin}>${buyerGstin}`
}

/** Names the dilution of a pair on an Indian day: equal questions have one job and one answer. */
export function dilutionRequest(pair: { supplierGstin: string; buyerGstin: string }, day: string): Buffer {
  return hash('sha256', `${pairText(pair)}/${day}`, 'buffer')
}
