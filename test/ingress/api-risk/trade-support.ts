import { createHash, randomUUID } from 'node:crypto'
import type { ApiClient, Reply } from '../../support/platform-client.ts'

/** A document that no other test records. */
export function tradeDocument(change: object = {}) {
  const sha256 = createHash('sha256').update(randomUUID()).digest('hex')
  return { type: 'COMMERCIAL_INVOICE', sha256, ...change }
}

export const EBRC = {
  iec: 'AAACR5678D',
  brcNumber: 'SYNB0000123260000042',
  shippingBill: { number: '4821907', date: '2026-03-14', portCode: 'INNSA1' },
  realised: { amount: 52_000, currency: 'USD' },
}

export const SHIPPING_BILL = { iec: 'AAACR5678D', number: '4821907', date: '2026-03-14', portCode: 'INNSA1' }

/** Records documents and issues a pack of them. */
export async function issuePack(
  client: ApiClient,
  options: { documents?: object[]; checks?: string[]; title?: string } = {},
): Promise<Reply> {
  const { documents = [{}], checks = [], title } = options
  const ids: string[] = []
  for (const change of documents) {
    ids.push((await client.post('/v1/trade/documents', tradeDocument(change))).json.documentId)
  }
  return await client.post('/v1/trade/packs', { documents: ids, checks, ...(title === undefined ? {} : { title }) })
}
