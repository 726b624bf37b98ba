import { timingSafeEqual } from 'node:crypto'
import { compactDecrypt, decodeProtectedHeader, importJWK } from 'jose'
import { isBase64url } from '../../canonical/base64url.ts'
import { type JsonObject, parseJson, parseJsonBytes } from '../../canonical/parse-json.ts'
import { objectOf } from '../credentials/jwt.ts'
import { RefusedPresentationError } from '../credentials/refusal.ts'
import type { PresentationSecrets, ResponseMode } from './presentation.ts'

export const MAX_FORM_BYTES = 256 * 1024

export type WalletResponse = { vpToken: JsonObject } | { error: string }

/** Errors of OAuth and OpenID4VP; other texts are not stored. */
const KNOWN_ERRORS: ReadonlySet<string> = new Set([
  'access_denied',
  'invalid_client',
  'invalid_request',
  'invalid_request_uri_method',
  'invalid_scope',
  'unsupported_response_type',
  'vp_formats_not_supported',
  'wallet_unavailable',
])

/** Compares in constant time. */
export function isState(actual: string, expected: string): boolean {
  const [one, other] = [Buffer.from(actual), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** @throws RefusedPresentationError */
export async function decryptWalletResponse(
  form: string,
  mode: ResponseMode,
  secrets: PresentationSecrets,
): Promise<WalletResponse> {
  const fields = new URLSearchParams(form)
  const single = (name: string) => {
    const all = fields.getAll(name)
    if (all.length > 1) throw new RefusedPresentationError('VP_TOKEN_MALFORMED')
    return all[0]
  }
  const [error, response, token] = [single('error'), single('response'), single('vp_token')]
  single('state')
  if (error !== undefined) return { error: KNOWN_ERRORS.has(error) ? error : 'other' }
  if (mode === 'direct_post') return { vpToken: readToken(token ?? '') }
  if (response === undefined) throw new RefusedPresentationError('ENCRYPTION_REQUIRED')
  const members = await decrypt(response, secrets)
  if (typeof members.state !== 'string' || !isState(members.state, secrets.state)) {
    throw new RefusedPresentationError('STATE_MISMATCH')
  }
  if (typeof members.error === 'string') return { error: KNOWN_ERRORS.has(members.error) ? members.error : 'other' }
  const vpToken = objectOf(members.vp_token)
  if (!vpToken) throw new RefusedPresentationError('VP_TOKEN_MALFORMED')
  return { vpToken }
}

function readToken(text: string): JsonObject {
  try {
    const token = objectOf(parseJson(text, { maxDepth: 8, maxValues: 100 }))
    if (token) return token
  } catch {}
  throw new RefusedPresentationError('VP_TOKEN_MALFORMED')
}

async function decrypt(response: string, { encryptionKey }: PresentationSecrets): Promise<JsonObject> {
  try {
    // Accepts only canonical base64url, so that a response has exactly one text.
    if (!response.split('.').every((part) => part === '' || isBase64url(part))) throw new Error('not base64url')
    // Compressed data could inflate without a limit, and no wallet needs it.
    if (encryptionKey === null || decodeProtectedHeader(response).zip !== undefined) throw new Error('not for this key')
    const { plaintext } = await compactDecrypt(response, await importJWK(encryptionKey, 'ECDH-ES'), {
      keyManagementAlgorithms: ['ECDH-ES'],
      contentEncryptionAlgorithms: ['A128GCM', 'A256GCM'],
    })
    const members = objectOf(parseJsonBytes(plaintext, { maxDepth: 16, maxValues: 200 }))
    if (members) return members
  } catch {}
  throw new RefusedPresentationError('DECRYPT_FAILED')
}
