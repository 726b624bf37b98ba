import { z } from 'zod'
import { rule } from '../../validation.ts'
import { amountInr, day, identifier, line, sha256Hex } from '../evidence/values.ts'
import { validateEbrcNumber, validateIec } from '../identifiers/trade-codes.ts'

export const DOCUMENT_TYPES = [
  'COMMERCIAL_INVOICE',
  'PACKING_LIST',
  'BILL_OF_LADING',
  'AIRWAY_BILL',
  'SHIPPING_BILL',
  'CERTIFICATE_OF_ORIGIN',
  'EBRC',
  'INSURANCE',
  'INSPECTION',
  'PURCHASE_ORDER',
  'LETTER_OF_CREDIT',
  'OTHER',
] as const

const MAX_METADATA = 20
const MAX_DOCUMENTS = 100

/** The bytes of the document stay with its holder. */
export const DocumentBody = z.strictObject({
  type: z.enum(DOCUMENT_TYPES),
  sha256: sha256Hex.meta({ description: 'SHA-256 of the file, computed by its holder' }),
  metadata: z
    .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/), line())
    .refine(
      (value) => Object.keys(value).length <= MAX_METADATA,
      rule('TOO_MANY', `must have at most ${MAX_METADATA} members`),
    )
    .optional()
    .meta({
      description:
        'stored encrypted; only commitments to it are anchored. invoiceNumber is compared with the shipping bill',
    }),
  signature: z
    .string()
    .regex(/^[!-~]{1,8000}$/, 'must be 1 to 8000 visible ASCII characters')
    .optional()
    .meta({ description: 'JWS over the hash; stored, and does not raise the tier until its key is trusted' }),
  sizeBytes: z.int().min(0).optional(),
  mediaType: z
    .string()
    .regex(/^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/, 'must be a media type in lower case')
    .optional(),
})

export type DocumentRequest = z.output<typeof DocumentBody>

const iec = identifier(validateIec, {
  LENGTH: 'must have 10 characters',
  FORMAT: 'must be a PAN, or ten digits',
}).meta({ id: 'Iec', example: 'AAACR5678D' })

const billNumber = z.string().regex(/^[0-9]{1,7}$/, 'must be 1 to 7 digits')
const portCode = z.string().regex(/^IN[A-Z]{3}[0-9]$/, 'must be IN, three letters and a digit')

/** At most four decimals, as some currencies have. */
const foreignAmount = z
  .number()
  .refine((value) => value > 0, { ...rule('TOO_SMALL', 'must be greater than 0'), abort: true })
  .refine((value) => value <= 1e13, { ...rule('TOO_LARGE', 'must be at most 1e13'), abort: true })
  .refine(
    (value) => /^[0-9]+(?:\.[0-9]{1,4})?$/.test(String(value)),
    rule('TOO_MANY_DECIMALS', 'must have at most four decimals'),
  )

export const EbrcBody = z.strictObject({
  iec,
  brcNumber: identifier(validateEbrcNumber, { FORMAT: 'must be 8 to 30 letters and digits' }),
  shippingBill: z.strictObject({ number: billNumber, date: day, portCode }).optional(),
  realised: z
    .strictObject({ amount: foreignAmount, currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters') })
    .optional(),
})

export const ShippingBillBody = z.strictObject({
  iec,
  number: billNumber,
  date: day,
  portCode,
  fobValueInr: amountInr.optional(),
})

export const IecBody = z.strictObject({ iec, legalName: line().optional() })

export type TradeRequest =
  | ({ subjectKind: 'EBRC' } & z.output<typeof EbrcBody>)
  | ({ subjectKind: 'SHIPPING_BILL' } & z.output<typeof ShippingBillBody>)
  | ({ subjectKind: 'IEC' } & z.output<typeof IecBody>)

function ids(minimum: number) {
  return z
    .array(z.string().min(1).max(300))
    .min(minimum)
    .max(MAX_DOCUMENTS)
    .refine((list) => new Set(list).size === list.length, rule('DUPLICATE', 'must not name an id twice'))
}

export const TradePackBody = z.strictObject({
  documents: ids(1).meta({ description: 'documentIds, in the order of the statement' }),
  checks: ids(0).optional().meta({ description: 'verificationIds' }),
  title: line().optional(),
})

export type TradePackRequest = z.output<typeof TradePackBody>
