import { verify } from 'node:crypto'
import { z } from 'zod'
import { isBase64url } from '../../../canonical/base64url.ts'
import { matchIrn } from '../../identifiers/irn.ts'
import { type InvoiceDocument, readInvoiceDocument } from './invoice-document.ts'
import { type Env, type InvoiceKey, isRsaKey, trustedKey } from './invoice-keys.ts'

export const TOKEN_MAX_BYTES = 65_536
export const TOKENS_MAX_COUNT = 50

export type Leg = 'A_TO_B' | 'B_TO_C'

/** The first failed check, in the order of the checks (docs/spec/risk-signals.md#e-invoice-tokens). */
export type TokenReason =
  | 'TOO_LARGE'
  | 'UNPARSEABLE'
  | 'ALG_NOT_ALLOWED'
  | 'KEY_UNKNOWN'
  | 'BAD_SIGNATURE'
  | 'DATA_UNPARSEABLE'
  | 'FIELD_MISSING'
  | 'KEY_NOT_VALID_THEN'
  | 'IRN_MISMATCH'
  | 'WRONG_PARTIES'
  | 'DATE_ORDER'
  | 'BAD_TOTAL'

export interface TokenCheck {
  reason: TokenReason | null
  /** null if it could not be decoded; a failed token also shows its claimed values */
  document: InvoiceDocument | null
  /** by a key that is trusted in this environment */
  signatureVerified: boolean
  /** null if seller and buyer are not the parties of this request */
  leg: Leg | null
}

export interface TokenContext {
  env: Env
  keys: readonly InvoiceKey[]
  buyerGstin: string
  borrowerGstin: string
  subcontractorGstin: string
}

/** Genuine tokens of some portals name the algorithm by its XML signature identifier. */
const RSA_SHA256: ReadonlySet<string> = new Set(['RS256', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'])

const IRN = /^[0-9A-Fa-f]{64}$/

const headerSchema = z.object({ alg: z.string(), kid: z.string() })
const payloadSchema = z.object({ data: z.string(), iss: z.string() })

/** Uses stored keys only; ignores `jku`, `x5u`, `x5c` and `jwk`. */
export function verifyInvoiceToken(token: string, context: TokenContext): TokenCheck {
  if (Buffer.byteLength(token) > TOKEN_MAX_BYTES) return failed('TOO_LARGE')
  const parts = readParts(token)
  if (!parts) return failed('UNPARSEABLE')
  const signing = signatureOf(parts, context)
  const signatureVerified = signing.reason === null
  const data = parseJson(parts.data)
  if (data === undefined) return failed(signing.reason ?? 'DATA_UNPARSEABLE', signatureVerified)
  const document = readInvoiceDocument(data) ?? null
  if (!document) return failed(signing.reason ?? 'FIELD_MISSING', signatureVerified)
  // The reference is signed, anchored and drawn in a pack, so it must have its format.
  if (!IRN.test(document.irn)) return failed(signing.reason ?? 'IRN_MISMATCH', signatureVerified)
  const leg = legOf(document, context)
  if (signing.reason) return { reason: signing.reason, document, signatureVerified: false, leg }
  if (!isValidThen(signing.key, document.issuedOn)) {
    return { reason: 'KEY_NOT_VALID_THEN', document, signatureVerified: false, leg }
  }
  return { reason: documentReason(document, leg), document, signatureVerified, leg }
}

interface TokenParts {
  alg: string
  kid: string
  iss: string
  data: string
  signingInput: string
  signature: Buffer
  hasCritical: boolean
}

function readParts(token: string): TokenParts | undefined {
  const match = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)$/.exec(token)
  if (!match) return undefined
  const [, header64 = '', payload64 = '', signature64 = ''] = match
  if (!match.slice(1).every((part) => part === '' || isBase64url(part))) return undefined
  const rawHeader = parseJson(decode(header64))
  const header = headerSchema.safeParse(rawHeader)
  const payload = payloadSchema.safeParse(parseJson(decode(payload64)))
  if (!header.success || !payload.success) return undefined
  return {
    ...header.data,
    ...payload.data,
    signingInput: `${header64}.${payload64}`,
    signature: Buffer.from(signature64, 'base64url'),
    hasCritical: typeof rawHeader === 'object' && rawHeader !== null && 'crit' in rawHeader,
  }
}

function signatureOf(
  parts: TokenParts,
  context: TokenContext,
): { reason: null; key: InvoiceKey } | { reason: TokenReason } {
  // RFC 7515, 4.1.11: reject critical extensions, because this code supports none.
  if (!RSA_SHA256.has(parts.alg) || parts.hasCritical) return { reason: 'ALG_NOT_ALLOWED' }
  const key = trustedKey(context.keys, context.env, { issuer: parts.iss, kid: parts.kid })
  if (!key) return { reason: 'KEY_UNKNOWN' }
  const input = Buffer.from(parts.signingInput)
  const isGood = isRsaKey(key.spkiPem) && verify('RSA-SHA256', input, key.spkiPem, parts.signature)
  return isGood ? { reason: null, key } : { reason: 'BAD_SIGNATURE' }
}

function documentReason(document: InvoiceDocument, leg: Leg | null): TokenReason | null {
  const { irn, sellerGstin: supplierGstin, documentType, documentNumber, documentDate } = document
  const rule = matchIrn(irn, { supplierGstin, documentType, documentNumber, documentDate })
  if (rule === undefined) return 'IRN_MISMATCH'
  if (!leg) return 'WRONG_PARTIES'
  if (documentDate > document.issuedOn) return 'DATE_ORDER'
  return document.totalPaise === null || document.totalPaise <= 0 ? 'BAD_TOTAL' : null
}

// The order goes from A to B to C, the invoices in the other direction: on A_TO_B the seller is B, on B_TO_C it is C
// (docs/spec/risk-signals.md#legs).
function legOf(document: InvoiceDocument, context: TokenContext): Leg | null {
  const { sellerGstin, buyerGstin } = document
  if (sellerGstin === context.borrowerGstin && buyerGstin === context.buyerGstin) return 'A_TO_B'
  if (sellerGstin === context.subcontractorGstin && buyerGstin === context.borrowerGstin) return 'B_TO_C'
  return null
}

function isValidThen(key: InvoiceKey, day: string): boolean {
  return (key.notBefore === null || key.notBefore <= day) && (key.notAfter === null || day <= key.notAfter)
}

function failed(reason: TokenReason, signatureVerified = false): TokenCheck {
  return { reason, document: null, signatureVerified, leg: null }
}

function decode(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
