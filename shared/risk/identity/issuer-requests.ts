import { X509Certificate } from 'node:crypto'
import { importJWK, type JWK } from 'jose'
import { z } from 'zod'
import type { FieldCode } from '../../field-codes.ts'
import { rule } from '../../validation.ts'
import { line } from '../evidence/values.ts'

const HOST = /^[a-z0-9.-]+(?::\d{1,5})?$/
const ALG_OF_CURVE: Readonly<Record<string, string>> = { 'P-256': 'ES256', 'P-384': 'ES384', Ed25519: 'EdDSA' }

/** A private key has more members, and is rejected. */
const PublicJwk = z.strictObject({
  kty: z.enum(['EC', 'OKP']),
  crv: z.enum(['P-256', 'P-384', 'Ed25519']),
  x: z.string().max(100),
  y: z.string().max(100).optional(),
  kid: line().optional(),
  use: z.string().max(10).optional(),
  alg: z.string().max(10).optional(),
})

const httpsUrl = line(500).refine(
  (text) => URL.parse(text)?.protocol === 'https:',
  rule('FORMAT', 'must be a URL with https'),
)

const certificate = z.string().max(10_000).refine(isCertificate, rule('FORMAT', 'must be a certificate in PEM'))

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

export const IssuerBody = z
  .strictObject({
    iss: httpsUrl,
    vctValues: z.array(line(500)).min(1).max(50),
    jwks: z.strictObject({ keys: z.array(PublicJwk).min(1).max(20) }).optional(),
    caCertificates: z.array(certificate).min(1).max(10).optional(),
    issuerMetadata: z.literal(true).optional(),
    statusHosts: z.array(z.string().max(260).regex(HOST, 'must be a host name')).max(10).default([]),
    assurance: z.enum(['HIGH', 'SUBSTANTIAL']).default('SUBSTANTIAL'),
  })
  .superRefine(({ jwks, caCertificates, issuerMetadata }, ctx) => {
    const fault = (path: (string | number)[], code: FieldCode, message: string) =>
      ctx.addIssue({ code: 'custom', path, ...rule(code, message) })
    if (!jwks && !caCertificates && !issuerMetadata) {
      fault(['jwks'], 'REQUIRED', 'or caCertificates or issuerMetadata is required')
    }
  })

export type IssuerRequest = z.output<typeof IssuerBody>

/** Returns null when all keys can be imported. */
export async function unusableKey(keys: readonly JWK[]): Promise<number | null> {
  for (const [at, key] of keys.entries()) {
    try {
      await importJWK(key, ALG_OF_CURVE[key.crv ?? ''] ?? '')
    } catch {
      return at
    }
  }
  return null
}
