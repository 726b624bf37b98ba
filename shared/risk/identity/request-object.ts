import type { JWK } from 'jose'
import type { Presentation, PresentationSecrets } from './presentation.ts'

/** Algorithms that we ask wallets for. */
const ALGS = ['ES256', 'EdDSA']

/** The addresses of a request at this installation. */
export function requestAddresses(publicUrl: string, handle: string) {
  return {
    requestUri: `${publicUrl}/v1/oid4vp/requests/${handle}`,
    responseUri: `${publicUrl}/v1/oid4vp/responses/${handle}`,
  }
}

/** The page that shows a request to people; who has its address may look on. */
export function presentationPageUrl(publicUrl: string, page: string): string {
  return `${publicUrl}/present/${page}`
}

/** What a wallet is shown as QR code or link. */
export function authorizationRequest(clientId: string, requestUri: string): string {
  return `openid4vp://?client_id=${encodeURIComponent(clientId)}&request_uri=${encodeURIComponent(requestUri)}`
}

/**
 * The claims of a request object (OpenID4VP 1.0 section 5), the same each time.
 * @param walletNonce what a wallet wants repeated when it asks by POST
 */
export function requestClaims(
  { clientId, responseMode, query, createdAt, expiresAt }: Presentation,
  { handle, nonce, state, encryptionKey }: PresentationSecrets,
  publicUrl: string,
  walletNonce: string | null,
): object {
  return {
    client_id: clientId,
    aud: 'https://self-issued.me/v2',
    response_type: 'vp_token',
    response_mode: responseMode,
    response_uri: requestAddresses(publicUrl, handle).responseUri,
    nonce,
    state,
    iat: Math.floor(createdAt.getTime() / 1000),
    exp: Math.floor(expiresAt.getTime() / 1000),
    dcql_query: query,
    client_metadata: {
      vp_formats_supported: { 'dc+sd-jwt': { 'sd-jwt_alg_values': ALGS, 'kb-jwt_alg_values': ALGS } },
      ...(encryptionKey ? encryptionMetadata(encryptionKey) : {}),
    },
    ...(walletNonce === null ? {} : { wallet_nonce: walletNonce }),
  }
}

function encryptionMetadata(privateJwk: JWK) {
  const { kty, crv, x, y, kid } = privateJwk
  return {
    jwks: { keys: [{ kty, crv, x, y, kid, use: 'enc', alg: 'ECDH-ES' }] },
    encrypted_response_enc_values_supported: ['A128GCM', 'A256GCM'],
  }
}
