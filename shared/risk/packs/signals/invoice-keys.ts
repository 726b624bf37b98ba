import { createPublicKey } from 'node:crypto'
import { z } from 'zod'
import { isDay } from '../money.ts'
import type { TradeLeg } from './trade-relationship.ts'

export type Env = 'SANDBOX' | 'PRODUCTION'

const day = z.string().refine(isDay, 'must be a date YYYY-MM-DD').nullable()

/** Portals publish only the present key, so old tokens need collected keys. */
export const InvoiceKey = z.strictObject({
  /** the `iss` of the tokens: `NIC`, `NIC Sandbox`, or that of a private portal */
  issuer: z.string().min(1),
  kid: z.string().regex(/^[0-9A-F]{40}$/),
  spkiPem: z.string().refine(isRsaKey, 'must be an RSA public key in PEM'),
  /** days of issue for which it is trusted, in Indian time; null for no bound */
  notBefore: day,
  notAfter: day,
  env: z.enum(['SANDBOX', 'PRODUCTION']),
  provenance: z.string().min(1),
})

export type InvoiceKey = z.infer<typeof InvoiceKey>

/** Sandbox keys are never trusted in production. */
export function trustedKey(
  keys: readonly InvoiceKey[],
  env: Env,
  named: { issuer: string; kid: string },
): InvoiceKey | undefined {
  return keys.find(
    (key) =>
      key.issuer === named.issuer &&
      key.kid === named.kid &&
      (env === 'SANDBOX' || (key.env === 'PRODUCTION' && key.issuer !== 'NIC Sandbox')),
  )
}

/** Only RS256 is accepted, so only RSA keys can verify. */
export function isRsaKey(pem: string): boolean {
  try {
    return createPublicKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

export interface Establishment {
  gstin: string
  /** null when the leg's trade is missing */
  established: boolean | null
  invoiceCount: number | null
  monthsActive: number | null
}

/** A counterparty is established from six invoices in three months (docs/spec/risk-signals.md#trade-relationship). */
export function counterpartyEstablishment(leg: TradeLeg): Establishment {
  const { counterpartyGstin: gstin, invoiceCount, monthsActive } = leg
  const established = invoiceCount === null || monthsActive === null ? null : invoiceCount >= 6 && monthsActive >= 3
  return { gstin, established, invoiceCount, monthsActive }
}
