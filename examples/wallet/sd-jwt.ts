import { createHash, randomBytes } from 'node:crypto'
import { importJWK, type JWK, SignJWT } from 'jose'

export interface KeyPair {
  privateJwk: JWK
  publicJwk: JWK
}

export const ALG = 'ES256'

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString())

const now = () => Math.floor(Date.now() / 1000)

async function signJwt(claims: object, header: object, key: JWK): Promise<string> {
  return await new SignJWT({ ...claims }).setProtectedHeader({ ...header, alg: ALG }).sign(await importJWK(key, ALG))
}

/** Does not verify the signature. */
export function claimsOf(jwt: string): Record<string, unknown> {
  return decode(jwt.split('.')[1] ?? '') as Record<string, unknown>
}

/** Issues an SD-JWT VC. Each of `claims` can be disclosed separately; `plain` is always visible. */
export async function issue(
  plain: { iss: string; vct: string; cnf: { jwk: JWK } },
  claims: Record<string, unknown>,
  { privateJwk, publicJwk }: KeyPair,
): Promise<string> {
  const disclosures = Object.entries(claims).map((claim) => encode([randomBytes(16).toString('base64url'), ...claim]))
  const payload = {
    ...plain,
    iat: now(),
    exp: now() + 365 * 86_400,
    _sd_alg: 'sha-256',
    _sd: disclosures.map(sha256).toSorted(),
  }
  const jwt = await signJwt(payload, { typ: 'dc+sd-jwt', kid: publicJwk.kid }, privateJwk)
  return `${[jwt, ...disclosures].join('~')}~`
}

export function disclosable(credential: string): string[] {
  return disclosuresOf(credential).map(([name]) => name)
}

/** Discloses some claims, signed by the holder for one verifier and one request. */
export async function present(
  credential: string,
  names: readonly string[],
  { aud, nonce }: { aud: string; nonce: string },
  holderKey: JWK,
): Promise<string> {
  const shown = disclosuresOf(credential).filter(([name]) => names.includes(name))
  const bound = `${[credential.split('~')[0], ...shown.map(([, text]) => text)].join('~')}~`
  return bound + (await signJwt({ iat: now(), aud, nonce, sd_hash: sha256(bound) }, { typ: 'kb+jwt' }, holderKey))
}

function disclosuresOf(credential: string): [name: string, text: string][] {
  const texts = credential.split('~').slice(1, -1)
  return texts.map((text) => [String((decode(text) as unknown[])[1]), text])
}
