import { isSignedBy, readTextJws } from './jwt.ts'
import { issuerKeys, type TrustedIssuer } from './trusted-issuer.ts'

/**
 * Whether a trusted issuer signed a document: a compact JWS whose payload is the hex SHA-256 of the document, and whose
 * protected header names the issuer in `iss` and its key as a credential does.
 */
export async function readDocumentSignature(
  signature: string,
  documentSha256: string,
  trusted: (iss: string) => Promise<readonly TrustedIssuer[]>,
  nowMs: number,
): Promise<boolean> {
  const jws = readTextJws(signature)
  if (jws?.text !== documentSha256 || typeof jws.header.iss !== 'string') return false
  for (const issuer of await trusted(jws.header.iss)) {
    for (const key of issuerKeys(jws.header, issuer, [], nowMs)) {
      if (await isSignedBy(jws, key)) return true
    }
  }
  return false
}
