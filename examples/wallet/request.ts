import { hash, X509Certificate } from 'node:crypto'
import { CompactEncrypt, decodeProtectedHeader, importJWK, importX509, type JWK, jwtVerify } from 'jose'

/** Supports only part of the protocol. */
export interface Requested {
  client_id: string
  response_mode: 'direct_post' | 'direct_post.jwt'
  response_uri: string
  nonce: string
  state: string
  dcql_query: { credentials: { id: string; meta: { vct_values: string[] }; claims: { path: string[] }[] }[] }
  client_metadata: { jwks?: { keys: JWK[] }; encrypted_response_enc_values_supported?: string[] }
}

/** Fetches the request of a QR code. @throws Error unless the named verifier has signed it */
export async function fetchRequest(authorizationRequest: string): Promise<Requested> {
  const params = new URL(authorizationRequest).searchParams
  const clientId = params.get('client_id') ?? ''
  const answer = await fetch(params.get('request_uri') ?? '')
  if (!answer.ok) throw new Error(`the request cannot be had: ${answer.status}`)
  const jwt = await answer.text()
  const { payload } = await jwtVerify<Requested>(jwt, await verifierKey(jwt, clientId), { typ: 'oauth-authz-req+jwt' })
  if (payload.client_id !== clientId) throw new Error('the request has another client_id')
  return payload
}

/** Returns the key of a client id: from the id itself, or from a certificate of its host. */
async function verifierKey(jwt: string, clientId: string) {
  const { alg = '', x5c } = decodeProtectedHeader(jwt)
  const did = /^decentralized_identifier:did:jwk:([\w-]+)$/.exec(clientId)?.[1]
  if (did !== undefined) return await importJWK(JSON.parse(Buffer.from(did, 'base64url').toString()), alg)
  const certificate = new X509Certificate(Buffer.from(x5c?.[0] ?? '', 'base64'))
  const digest = /^x509_hash:(.+)$/.exec(clientId)?.[1]
  const host = /^x509_san_dns:(.+)$/.exec(clientId)?.[1]
  const isNamed =
    host === undefined ? digest === hash('sha256', certificate.raw, 'base64url') : certificate.checkHost(host)
  if (!isNamed) throw new Error('the signer of the request does not match its client_id')
  // A real wallet must check the certificate's authority; this example accepts any.
  return await importX509(certificate.toString(), alg)
}

/** @returns the verifier's response */
export async function answer(requested: Requested, vpToken: Record<string, string[]>): Promise<Response> {
  return await fetch(requested.response_uri, { method: 'POST', body: await formOf(requested, vpToken) })
}

async function formOf(requested: Requested, vpToken: Record<string, string[]>): Promise<URLSearchParams> {
  if (requested.response_mode === 'direct_post') {
    return new URLSearchParams({ vp_token: JSON.stringify(vpToken), state: requested.state })
  }
  const [jwk] = requested.client_metadata.jwks?.keys ?? []
  if (!jwk) throw new Error('the verifier names no key to encrypt to')
  const header = { alg: jwk.alg ?? '', enc: 'A256GCM', ...(jwk.kid === undefined ? {} : { kid: jwk.kid }) }
  const text = JSON.stringify({ vp_token: vpToken, state: requested.state })
  const jwe = new CompactEncrypt(Buffer.from(text)).setProtectedHeader(header)
  return new URLSearchParams({ response: await jwe.encrypt(await importJWK(jwk, jwk.alg)) })
}
