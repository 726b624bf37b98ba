import { createPrivateKey, hash, X509Certificate } from 'node:crypto'
import type { JWK } from 'jose'
import type { SigningKey } from '../domain-keys/signing-key.ts'

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
