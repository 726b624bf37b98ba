export type Env = 'SANDBOX' | 'PRODUCTION'

/**
 * A public key that an invoice portal signs with. A portal publishes only its present certificate and keys rotate, so
 * old tokens verify only with the keys that were collected.
 */
export interface InvoiceKey {
  /** The `iss` of the tokens: `NIC`, `NIC Sandbox`, or a private portal's. */
  issuer: string
  /** Forty upper-case hexadecimal characters. */
  kid: string
  spkiPem: string
  /** The days of signing it is trusted for, `YYYY-MM-DD` in Indian time; null leaves that side open. */
  notBefore: string | null
  notAfter: string | null
  env: Env
  /** Where the key was obtained, for the evidence record. */
  provenance: string
}

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
