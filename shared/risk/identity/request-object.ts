import { createPrivateKey, hash, X509Certificate } from 'node:crypto'
import type { JWK } from 'jose'
import type { SigningKey } from '../domain-keys/signing-key.ts'
import type { Presentation, PresentationSecrets } from './presentation.ts'

const ALGS = ['ES256', 'EdDSA']

export function requestAddresses(publicUrl: string, handle: string) {
  return {
    requestUri: `${publicUrl}/v1/oid4vp/requests/${handle}`,
    responseUri: `${publicUrl}/v1/oid4vp/responses/${handle}`,
  }
}

/** The page works without a sign-in. */
export function presentationPageUrl(publicUrl: string, page: string): string {
  return `${publicUrl}/present/${page}`
}

export function authorizationRequest(clientId: string, requestUri: string): string {
  return `openid4vp://?client_id=${encodeURIComponent(clientId)}&request_uri=${encodeURIComponent(requestUri)}`
}

/** OpenID4VP 1.0 section 5; equal for each fetch. */
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

export interface RequestSigner {
  /** with its prefix; wallets show it, and bind their responses to it */
  clientId: string
  header: { kid: string } | { x5c: string[] }
  key: JWK
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** `x509_san_dns` for a certificate with the host, otherwise `x509_hash`. Throws if key and certificate differ. */
export function certifiedSigner(certificate: string, privateKey: string, publicUrl: string): RequestSigner {
  const chain = [...certificate.matchAll(PEM)].map(([pem]) => new X509Certificate(pem))
  const [leaf] = chain
  const key = createPrivateKey(privateKey)
  if (!leaf?.checkPrivateKey(key)) throw new Error('OID4VP_KEY does not match OID4VP_CERT')
  const jwk = key.export({ format: 'jwk' })
  if (jwk.crv !== 'P-256') throw new Error('OID4VP_KEY must be a P-256 key')
  const host = new URL(publicUrl).hostname
  const isNamed = leaf.checkHost(host, { subject: 'never', wildcards: false }) !== undefined
  const clientId = isNamed ? `x509_san_dns:${host}` : `x509_hash:${hash('sha256', leaf.raw, 'base64url')}`
  return { clientId, header: { x5c: chain.map(({ raw }) => raw.toString('base64')) }, key: jwk }
}

/** The sandbox has no certificate; did:jwk identifies its key. */
export function didSigner({ privateJwk, publicJwk: { kid: _kid, ...bare } }: SigningKey): RequestSigner {
  const did = `did:jwk:${Buffer.from(JSON.stringify(bare)).toString('base64url')}`
  return { clientId: `decentralized_identifier:${did}`, header: { kid: `${did}#0` }, key: privateJwk }
}
