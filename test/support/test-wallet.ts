import { hash, randomBytes, X509Certificate } from 'node:crypto'
import { setGlobalConfig } from '@openid4vc/oauth2'
import { Openid4vpClient } from '@openid4vc/openid4vp'
import {
  CompactEncrypt,
  calculateJwkThumbprint,
  compactVerify,
  exportJWK,
  generateKeyPair,
  importJWK,
  importX509,
  type JWK,
} from 'jose'
import { type KeyPair, presentCredential } from './test-issuer.ts'

/** A new key pair, the public half with its thumbprint as `kid`. */
export async function newKeyPair(alg: 'ES256' | 'ES384' | 'EdDSA' = 'ES256'): Promise<KeyPair> {
  const pair = await generateKeyPair(alg, { extractable: true })
  const publicJwk = await exportJWK(pair.publicKey)
  const kid = await calculateJwkThumbprint(publicJwk)
  return { privateJwk: await exportJWK(pair.privateKey), publicJwk: { ...publicJwk, kid } }
}

/** The public key without members that a holder's key does not need. */
export function holderJwk({ publicJwk: { kid: _kid, ...bare } }: KeyPair): JWK {
  return bare
}

const callbacks = {
  hash: (data: Uint8Array, alg: string) => new Uint8Array(hash(alg.replace('-', ''), data, 'buffer')),
  fetch: (...given: Parameters<typeof fetch>) => fetch(...given),
  generateRandom: (size: number) => new Uint8Array(randomBytes(size)),
  clientAuthentication: () => {},
  signJwt: () => {
    throw new Error('this wallet signs no requests')
  },
  decryptJwe: () => ({ decrypted: false as const }),
  getX509CertificateMetadata(certificate: string) {
    const names = new X509Certificate(Buffer.from(certificate, 'base64')).subjectAltName ?? ''
    return { sanDnsNames: [...names.matchAll(/DNS:([^,]+)/g)].map((match) => String(match[1])), sanUriNames: [] }
  },
  async encryptJwe(
    encryptor: { publicJwk: object; alg: string; enc: string; apu?: string; apv?: string },
    data: string,
  ) {
    const publicJwk = encryptor.publicJwk as JWK
    const jwe = await new CompactEncrypt(Buffer.from(data))
      .setProtectedHeader({ alg: encryptor.alg, enc: encryptor.enc, ...(publicJwk.kid ? { kid: publicJwk.kid } : {}) })
      .encrypt(await importJWK(publicJwk, encryptor.alg))
    return { jwe, encryptionJwk: encryptor.publicJwk }
  },
  /** The `client_id` of a request names its signer: a key in the identifier, or a certificate. */
  async verifyJwt(signer: { method: string; didUrl?: string; x5c?: string[]; alg: string }, jwt: { compact: string }) {
    const jwk =
      signer.method === 'did'
        ? (JSON.parse(Buffer.from(String(signer.didUrl).slice('did:jwk:'.length, -2), 'base64url').toString()) as JWK)
        : await exportJWK(
            await importX509(
              new X509Certificate(Buffer.from(String(signer.x5c?.[0]), 'base64')).toString(),
              signer.alg,
              { extractable: true },
            ),
          )
    await compactVerify(jwt.compact, await importJWK(jwk, signer.alg))
    return { verified: true as const, signerJwk: jwk }
  },
}

/** A request as parsed by a wallet. */
export interface ResolvedRequest {
  clientId: string
  nonce: string
  state: string
  responseUri: string
  // biome-ignore lint/suspicious/noExplicitAny: the request under test
  payload: any
}

// The installation under test listens only on loopback, without a certificate.
setGlobalConfig({ allowInsecureUrls: true })

// The library's types describe more callbacks than a wallet needs.
const client = new Openid4vpClient({ callbacks: callbacks as never })

/** Fetches and verifies the request of an authorization URL. */
export async function resolveRequest(authorizationRequest: string): Promise<ResolvedRequest> {
  const parsed = client.parseOpenid4vpAuthorizationRequest({ authorizationRequest })
  const resolved = await client.resolveOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: parsed.params as never,
  })
  const payload = resolved.authorizationRequestPayload as Record<string, unknown>
  return {
    clientId: String(payload.client_id),
    nonce: String(payload.nonce),
    state: String(payload.state),
    responseUri: String(payload.response_uri),
    payload,
  }
}

/** Returns the address and form of the answer without sending it. */
export async function answerOf(
  request: ResolvedRequest,
  vpToken: object,
): Promise<{ url: string; form: URLSearchParams }> {
  const isEncrypted = request.payload.response_mode === 'direct_post.jwt'
  const created = await client.createOpenid4vpAuthorizationResponse({
    authorizationRequestPayload: request.payload,
    authorizationResponsePayload: { vp_token: vpToken } as never,
    ...(isEncrypted
      ? {
          jarm: {
            encryption: { nonce: randomBytes(16).toString('base64url') },
            serverMetadata: {
              authorization_signing_alg_values_supported: [],
              authorization_encryption_alg_values_supported: ['ECDH-ES'],
              authorization_encryption_enc_values_supported: ['A128GCM', 'A256GCM'],
            },
          },
        }
      : {}),
  })
  let form = new URLSearchParams()
  const wire = new Openid4vpClient({
    callbacks: {
      ...callbacks,
      fetch: async (_url: string, init: { body: unknown }) => {
        form = new URLSearchParams(String(init.body))
        return new Response('{}', { headers: { 'content-type': 'application/json' } })
      },
    } as never,
  })
  await wire.submitOpenid4vpAuthorizationResponse({
    authorizationRequestPayload: request.payload,
    authorizationResponsePayload: created.authorizationResponsePayload,
    ...(created.jarm ? { jarm: created.jarm } : {}),
  })
  return { url: request.responseUri, form }
}

/** Posts the answer of a wallet. */
export async function post(url: string, form: URLSearchParams): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { method: 'POST', body: form })
  return { status: response.status, text: await response.text() }
}

/** Fetches a request, presents a credential for its query `company`, and posts the answer. */
export async function present(
  authorizationRequest: string,
  credential: string,
  holder: KeyPair,
  claims: readonly string[] = ['legalName', 'gstin'],
): Promise<{ status: number; text: string }> {
  const request = await resolveRequest(authorizationRequest)
  const binding = { nonce: request.nonce, aud: request.clientId }
  const presentation = await presentCredential(credential, holder, claims, binding)
  const { url, form } = await answerOf(request, { company: [presentation] })
  return await post(url, form)
}
