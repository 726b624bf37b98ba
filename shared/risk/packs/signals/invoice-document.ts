import { z } from 'zod'
import type { DocumentType } from '../../identifiers/irn.ts'
import { dayFromIndianText, type Paise, parsePaise } from '../money.ts'

export interface InvoiceDocument {
  irn: string
  sellerGstin: string
  buyerGstin: string
  documentType: DocumentType
  documentNumber: string
  /** `YYYY-MM-DD` */
  documentDate: string
  /** `YYYY-MM-DD` in Indian time */
  issuedOn: string
  /** null unless a plain decimal of at most two places */
  totalPaise: Paise | null
}

const documentType = z.enum(['INV', 'CRN', 'DBN'])
/** Longer than every valid value. */
const text = z.string().max(100)

// The QR code's data is flat; further members are ignored.
const qrData = z.object({
  SellerGstin: text,
  BuyerGstin: text,
  DocNo: text,
  DocTyp: documentType,
  DocDt: text,
  TotInvVal: z.number(),
  Irn: z.string(),
  IrnDt: text,
})

const invoiceData = z.object({
  Irn: z.string(),
  AckDt: text,
  DocDtls: z.object({ Typ: documentType, No: text, Dt: text }),
  SellerDtls: z.object({ Gstin: text }),
  BuyerDtls: z.object({ Gstin: text }),
  ValDtls: z.object({ TotInvVal: z.number() }),
})

/** `undefined` when a required field is missing or malformed. */
export function readInvoiceDocument(data: unknown): InvoiceDocument | undefined {
  const qr = qrData.safeParse(data)
  if (qr.success) {
    const { SellerGstin, BuyerGstin, DocNo, DocTyp, DocDt, TotInvVal, Irn, IrnDt } = qr.data
    return document(Irn, SellerGstin, BuyerGstin, DocTyp, DocNo, DocDt, IrnDt, TotInvVal)
  }
  const invoice = invoiceData.safeParse(data)
  if (!invoice.success) return undefined
  const { Irn, AckDt, DocDtls, SellerDtls, BuyerDtls, ValDtls } = invoice.data
  return document(Irn, SellerDtls.Gstin, BuyerDtls.Gstin, DocDtls.Typ, DocDtls.No, DocDtls.Dt, AckDt, ValDtls.TotInvVal)
}

function document(
  irn: string,
  sellerGstin: string,
  buyerGstin: string,
  type: DocumentType,
  documentNumber: string,
  dateText: string,
  issuedText: string,
  total: number,
): InvoiceDocument | undefined {
  const documentDate = dayFromIndianText(dateText)
  const issuedOn = issuedText.slice(0, 10)
  if (!documentDate || !/^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$/.test(issuedText)) return undefined
  const totalPaise = parsePaise(total) ?? null
  return { irn, sellerGstin, buyerGstin, documentType: type, documentNumber, documentDate, issuedOn, totalPaise }
}
