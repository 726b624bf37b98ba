import { timingSafeEqual } from 'node:crypto'
import { compactDecrypt, decodeProtectedHeader, importJWK } from 'jose'
import { isBase64url } from '../../canonical/base64url.ts'
import { type JsonObject, parseJson, parseJsonBytes } from '../../canonical/parse-json.ts'
import { objectOf } from '../credentials/jwt.ts'
import { RefusedPresentationError } from '../credentials/refusal.ts'
import type { PresentationSecrets, ResponseMode } from './presentation.ts'

/** Bytes of the form that a wallet posts. */
export const MAX_FORM_BYTES = 256 * 1024

/** What a wallet says: what it presents, or why it does not. */
export type WalletResponse = { vpToken: JsonObject } | { error: string }

/** Errors of OAuth and OpenID4VP; the text of another one is not ours to keep. */
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
export function isState(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/**
 * Opens the form of a wallet's answer.
 * @throws RefusedPresentationError
 */
export async function decryptWalletResponse(
  form: string,
  mode: ResponseMode,
  secrets: PresentationSecrets,
): Promise<WalletResponse> {
  const fields = new URLSearchParams(form)
  const given = (name: string) => {
    const all = fields.getAll(name)
    if (all.length > 1) throw new RefusedPresentationError('VP_TOKEN_MALFORMED')
    return all[0]
  }
  const [error, response, token] = [given('error'), given('response'), given('vp_token')]
  given('state')
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
  } catch {
    // Refused below, as what is JSON and no object.
  }
  throw new RefusedPresentationError('VP_TOKEN_MALFORMED')
}

async function decrypt(response: string, { encryptionKey }: PresentationSecrets): Promise<JsonObject> {
  try {
    // One text for one answer: nothing that was changed on its way is read, not even where it means the same.
    if (!response.split('.').every((part) => part === '' || isBase64url(part))) throw new Error('not base64url')
    // What is compressed may inflate to anything, and no wallet needs it.
    if (encryptionKey === null || decodeProtectedHeader(response).zip !== undefined) throw new Error('not for this key')
    const { plaintext } = await compactDecrypt(response, await importJWK(encryptionKey, 'ECDH-ES'), {
      keyManagementAlgorithms: ['ECDH-ES'],
      contentEncryptionAlgorithms: ['A128GCM', 'A256GCM'],
    })
    const members = objectOf(parseJsonBytes(plaintext, { maxDepth: 16, maxValues: 200 }))
    if (members) return members
  } catch {
    // Whatever is wrong with it, it cannot be read.
  }
  throw new RefusedPresentationError('DECRYPT_FAILED')
}
