import { sign } from 'node:crypto'
import { computeIrn } from '../../identifiers/irn.ts'
import { toInr } from '../../packs/money.ts'
import type { PackRequest } from '../../packs/request.ts'
import { latestDemoInvoice } from './demo-trade.ts'
import { sandboxInvoiceKey } from './invoice-key.ts'

export interface SignedInvoiceFields {
  sellerGstin: string
  buyerGstin: string
  documentNumber: string
  /** `YYYY-MM-DD`. */
  documentDate: string
  totalInr: number
}

/**
 * One signed e-invoice per leg, A_TO_B first, present with the same value in the sandbox's return data. RS256 is
 * deterministic, so the same request gets the same tokens for as long as the latest due period stays the same.
 */
export function demoInvoiceTokens(request: PackRequest, seed: string, privateKeyPem: string, nowMs: number): string[] {
  const { buyerGstin, borrowerGstin, subcontractorGstin } = request
  const legs = [
    { sellerGstin: borrowerGstin, buyerGstin },
    { sellerGstin: subcontractorGstin, buyerGstin: borrowerGstin },
  ]
  return legs.map((leg) => {
    const { number, date, valuePaise } = latestDemoInvoice(seed, leg.sellerGstin, leg.buyerGstin, nowMs)
    const fields = { ...leg, documentNumber: number, documentDate: date, totalInr: toInr(valuePaise) }
    return signDemoInvoice(fields, privateKeyPem)
  })
}

/** A signed QR code in the portal's own shape, under the sandbox's issuer. */
export function signDemoInvoice(fields: SignedInvoiceFields, privateKeyPem: string): string {
  const { sellerGstin, buyerGstin, documentNumber, documentDate, totalInr } = fields
  const { kid, issuer } = sandboxInvoiceKey(privateKeyPem)
  const data = {
    SellerGstin: sellerGstin,
    BuyerGstin: buyerGstin,
    DocNo: documentNumber,
    DocTyp: 'INV',
    DocDt: documentDate.split('-').reverse().join('/'),
    TotInvVal: totalInr,
    ItemCnt: 1,
    MainHsnCode: '8483',
    Irn: computeIrn({ supplierGstin: sellerGstin, documentType: 'INV', documentNumber, documentDate }),
    IrnDt: `${documentDate} 12:00:00`,
  }
  const header = { alg: 'RS256', typ: 'JWT', kid, x5t: Buffer.from(kid, 'hex').toString('base64url') }
  const input = `${encode(header)}.${encode({ data: JSON.stringify(data), iss: issuer })}`
  return `${input}.${sign('RSA-SHA256', Buffer.from(input), privateKeyPem).toString('base64url')}`
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
