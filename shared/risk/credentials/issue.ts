import { hash } from 'node:crypto'
import type { JWK } from 'jose'
import type { JsonValue } from '../../canonical/parse-json.ts'
import { signJwt } from '../domain-keys/signing-key.ts'

/**
 * Issues an SD-JWT VC: every one of `disclosable` may be disclosed by itself.
 * @param plain claims that are always shown, `iss` and `vct` among them
 * @param random gives `size` random bytes
 */
export async function issueSdJwt(
  plain: Readonly<Record<string, unknown>>,
  disclosable: Readonly<Record<string, JsonValue>>,
  signer: { kid: string; key: JWK },
  random: (size: number) => Buffer,
): Promise<string> {
  const disclosures = Object.entries(disclosable).map(([name, value]) =>
    Buffer.from(JSON.stringify([random(16).toString('base64url'), name, value])).toString('base64url'),
  )
  const digests = disclosures.map((text) => hash('sha256', text, 'base64url')).toSorted()
  const payload = { ...plain, ...(digests.length === 0 ? {} : { _sd: digests, _sd_alg: 'sha-256' }) }
  const jwt = await signJwt(payload, { typ: 'dc+sd-jwt', kid: signer.kid }, signer.key)
  return `${[jwt, ...disclosures].join('~')}~`
}
