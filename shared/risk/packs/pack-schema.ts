import { z } from 'zod'
import { GRADED_KEYS } from './policy.ts'

/** The pack of the contract. A value without a source is null; no member is omitted or added. */
const gstin = z.string().regex(/^[0-9]{2}[0-9A-Z]{13}$/)
const count = z.int().min(0).nullable()
const inr = z.number().nullable()
const instant = z.iso.datetime({ precision: 3 })

const TradeLegSchema = z.strictObject({
  counterpartyGstin: gstin,
  invoiceCount: count,
  totalValueInr: inr,
  monthsActive: count,
  trend: z.enum(['GROWING', 'STABLE', 'DECLINING', 'INSUFFICIENT_DATA']).nullable(),
  verified: z.boolean(),
  source: z.string().nullable(),
})

function capacitySchema<Subject extends string>(subject: Subject) {
  return z.strictObject({
    subject: z.literal(subject),
    activeEmployeeCount: count,
    annualTurnoverInr: inr,
    orderValueInr: z.number(),
    capacityRating: z.enum(['ADEQUATE', 'STRETCHED', 'CONSTRAINED', 'UNKNOWN']),
    innocentExplanations: z.array(z.string()),
  })
}

const EstablishmentSchema = z.strictObject({
  gstin,
  established: z.boolean().nullable(),
  invoiceCount: count,
  monthsActive: count,
})

const ActiveChargeSchema = z.strictObject({
  securityInterestId: z.string(),
  assetCategory: z.string(),
  coversReceivables: z.boolean(),
  createdOn: z.iso.date(),
  securedAmountInr: inr,
  chargeHolderType: z.string(),
})

const PackSignalsSchema = z.strictObject({
  tradeRelationship: z.strictObject({ ab: TradeLegSchema, bc: TradeLegSchema }),
  subcontractorCapacity: capacitySchema('SUBCONTRACTOR'),
  borrowerCapacity: capacitySchema('BORROWER'),
  doubleFinancing: z.strictObject({
    status: z.enum([
      'CLEAN',
      'POSSIBLE_MATCH',
      'DUPLICATE_REGISTERED',
      'DUPLICATE_FINANCED',
      'CHARGE_FOUND',
      'UNRESOLVED',
    ]),
    cersai: z.strictObject({
      source: z.string().nullable(),
      searchType: z.enum(['SI', 'ASSET', 'DEBTOR', 'AOR']),
      searchedAt: instant.nullable(),
      activeCharges: z.array(ActiveChargeSchema).nullable(),
    }),
  }),
  aaCashflow: z.strictObject({
    avgMonthlyBalance: inr,
    balanceTier: z.enum(['BRONZE', 'SILVER', 'GOLD', 'PLATINUM']).nullable(),
    source: z.string().nullable(),
  }),
  eInvoice: z.strictObject({
    provided: z.int().min(0),
    parsed: z.int().min(0),
    gstnSigned: z.int().min(0),
    abLegCorroborated: z.boolean(),
    bcLegCorroborated: z.boolean(),
    invoices: z.array(
      z.strictObject({
        irn: z.string(),
        leg: z.enum(['A_TO_B', 'B_TO_C']).nullable(),
        totalValueInr: inr,
        signatureVerified: z.boolean(),
      }),
    ),
  }),
  counterpartyEstablishment: z.strictObject({ buyer: EstablishmentSchema, subcontractor: EstablishmentSchema }),
})

const GradedSignalSchema = z.strictObject({
  key: z.enum(GRADED_KEYS),
  label: z.string(),
  status: z.enum([
    'REGISTRY_VERIFIED',
    'LENDER_SIDE',
    'ISSUER_CONFIRMED',
    'DOCUMENT_SIGNED',
    'SELF_DECLARED',
    'MISSING',
  ]),
  grade: z.string(),
  detail: z.string(),
})

export const AnchorSchema = z.strictObject({
  network: z.string(),
  txId: z.string(),
  payloadSha256: z.string().regex(/^[0-9a-f]{64}$/),
  note: z.string().optional(),
})

/** Hashed without its anchor. */
export const PackBodySchema = z.strictObject({
  packId: z.uuid(),
  generatedAt: instant,
  signalLevel: z.enum(['CLEAR', 'INCOMPLETE', 'ATTENTION', 'CONFLICTED']),
  signals: PackSignalsSchema,
  gradedSignals: z.array(GradedSignalSchema),
  flags: z.array(z.string()),
})

export const PackSchema = PackBodySchema.extend({ anchor: AnchorSchema })

export type PackSignals = z.infer<typeof PackSignalsSchema>
export type GradedSignal = z.infer<typeof GradedSignalSchema>
export type PackBody = z.infer<typeof PackBodySchema>
export type Pack = z.infer<typeof PackSchema>
export type SignalLevel = PackBody['signalLevel']
