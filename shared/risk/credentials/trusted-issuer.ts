import { X509Certificate } from 'node:crypto'
import type { JWK } from 'jose'
import type { JsonObject } from '../../canonical/parse-json.ts'

export interface TrustedIssuer {
  id: string
  iss: string
  vctValues: readonly string[]
  keys: readonly JWK[]
  /** PEM */
  caCertificates: readonly string[]
  /** hosts of its status lists, with a port if it is not 443 */
  statusHosts: readonly string[]
  /** its keys may be fetched from its metadata */
  hasMetadata: boolean
  /** the operator trusts it for all organisations */
  isOperators: boolean
  assurance: 'HIGH' | 'SUBSTANTIAL'
}

const MAX_CHAIN = 5

/** Uses the key set by `kid`, otherwise `x5c`. Ignores `jwk`, `jku` and `x5u`. */
export function issuerKeys(header: JsonObject, issuer: TrustedIssuer, fetched: readonly JWK[], nowMs: number): JWK[] {
  const { kid, x5c } = header
  const known = [...issuer.keys, ...fetched]
  if (known.length > 0 && x5c === undefined)
    return typeof kid === 'string' ? known.filter((key) => key.kid === kid) : known
  const leaf = Array.isArray(x5c) ? chainedLeaf(x5c, issuer, nowMs) : null
  return leaf ? [leaf.publicKey.export({ format: 'jwk' })] : []
}

function chainedLeaf(x5c: readonly unknown[], issuer: TrustedIssuer, nowMs: number): X509Certificate | null {
  if (x5c.length === 0 || x5c.length > MAX_CHAIN || issuer.caCertificates.length === 0) return null
  try {
    const chain = x5c.map((text) => new X509Certificate(Buffer.from(typeof text === 'string' ? text : '', 'base64')))
    const anchors = issuer.caCertificates.map((pem) => new X509Certificate(pem))
    const isChained = chain.every((certificate, at) => {
      const next = chain[at + 1]
      const signers = next ? [next] : anchors
      return isCurrent(certificate, nowMs) && signers.some((signer) => isIssuedBy(certificate, signer))
    })
    const [leaf] = chain
    const host = URL.parse(issuer.iss)?.hostname ?? ''
    return leaf && isChained && isOfHost(leaf, host) ? leaf : null
  } catch {
    return null
  }
}

function isCurrent(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && nowMs < certificate.validToDate.getTime()
}

function isIssuedBy(certificate: X509Certificate, signer: X509Certificate): boolean {
  if (certificate.raw.equals(signer.raw)) return true // the chain may end with the anchor itself
  return signer.ca && certificate.checkIssued(signer) && certificate.verify(signer.publicKey)
}

function isOfHost(certificate: X509Certificate, host: string): boolean {
  const options = { subject: 'never', wildcards: false } as const
  return certificate.checkHost(host, options) !== undefined || certificate.checkIP(host) !== undefined
}
