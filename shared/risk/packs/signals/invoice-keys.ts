import { createPublicKey } from 'node:crypto'
import { z } from 'zod'
import { isDay } from '../money.ts'
import type { TradeLeg } from './trade-relationship.ts'

export type Env = 'SANDBOX' | 'PRODUCTION'

const day = z.string().refine(isDay, 'must be a date YYYY-MM-DD').nullable()

/**
 * A public key that an invoice portal signs with. A portal publishes only its present certificate and keys rotate, so
 * old tokens verify only with the keys that were collected.
 */
export const InvoiceKey = z.strictObject({
  /** The `iss` of the tokens: `NIC`, `NIC Sandbox`, or a private portal's. */
  issuer: z.string().min(1),
  kid: z.string().regex(/^[0-9A-F]{40}$/),
  spkiPem: z.string().refine(isRsaKey, 'must be an RSA public key in PEM'),
  /** The days of issue it is trusted for, in Indian time; null leaves that side open. */
  notBefore: day,
  notAfter: day,
  env: z.enum(['SANDBOX', 'PRODUCTION']),
  /** Where the key was obtained. */
  provenance: z.string().min(1),
})

export type InvoiceKey = z.infer<typeof InvoiceKey>

/** The key a token names, if it is trusted in this environment: sandbox keys never count in production. */
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

/** Only RS256 is accepted, so only RSA keys can ever verify. */
export function isRsaKey(pem: string): boolean {
  try {
    return createPublicKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

export interface Establishment {
  gstin: string
  /** Null when the leg's trade is missing. */
  established: boolean | null
  invoiceCount: number | null
  monthsActive: number | null
}

/** A counterparty counts as established from six invoices in three months on (docs/spec/risk-signals.md#trade-relationship). */
export function counterpartyEstablishment(leg: TradeLeg): Establishment {
  const { counterpartyGstin: gstin, invoiceCount, monthsActive } = leg
  const established = invoiceCount === null || monthsActive === null ? null : invoiceCount >= 6 && monthsActive >= 3
  return { gstin, established, invoiceCount, monthsActive }
}
