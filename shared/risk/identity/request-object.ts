import { createPrivateKey, hash, X509Certificate } from 'node:crypto'
import type { JWK } from 'jose'
import type { SigningKey } from '../domain-keys/signing-key.ts'
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

/** With what requests to wallets are signed, and as whom. */
export interface RequestSigner {
  /** with its prefix: what wallets show, and bind their answers to */
  clientId: string
  header: { kid: string } | { x5c: string[] }
  key: JWK
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/**
 * The signer of a certificate: `x509_san_dns` when it names the host of `publicUrl`, else `x509_hash`.
 * @param certificate chain in PEM, its own certificate first
 * @throws Error when certificate and key do not go together
 */
export function certifiedSigner(certificate: string, privateKey: string, publicUrl: string): RequestSigner {
  const chain = [...certificate.matchAll(PEM)].map(([pem]) => new X509Certificate(pem))
  const [leaf] = chain
  const key = createPrivateKey(privateKey)
  if (!leaf?.checkPrivateKey(key)) throw new Error('OID4VP_KEY is not the key of OID4VP_CERT')
  const jwk = key.export({ format: 'jwk' })
  if (jwk.crv !== 'P-256') throw new Error('OID4VP_KEY is not a P-256 key')
  const host = new URL(publicUrl).hostname
  const isNamed = leaf.checkHost(host, { subject: 'never', wildcards: false }) !== undefined
  const clientId = isNamed ? `x509_san_dns:${host}` : `x509_hash:${hash('sha256', leaf.raw, 'base64url')}`
  return { clientId, header: { x5c: chain.map(({ raw }) => raw.toString('base64')) }, key: jwk }
}

/** The signer without a certificate, for the sandbox: its key names itself (did:jwk). */
export function didSigner({ privateJwk, publicJwk: { kid: _kid, ...bare } }: SigningKey): RequestSigner {
  const did = `did:jwk:${Buffer.from(JSON.stringify(bare)).toString('base64url')}`
  return { clientId: `decentralized_identifier:${did}`, header: { kid: `${did}#0` }, key: privateJwk }
}
