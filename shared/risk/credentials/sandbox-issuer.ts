import type { JWK } from 'jose'
import type { JsonValue } from '../../canonical/parse-json.ts'
import { type SigningKey, signJwt } from '../domain-keys/signing-key.ts'
import { issueSdJwt } from './issue.ts'
import { deflateList } from './status-list.ts'
import type { TrustedIssuer } from './trusted-issuer.ts'

/** The issuer of the sandbox; its name has no server. */
export const SANDBOX_ISSUER = 'https://issuer.sandbox.example'
const FOREIGN_ISSUER = 'https://foreign-issuer.sandbox.example'
const STATUS_URI = `${SANDBOX_ISSUER}/status/1`

export const CREDENTIAL_SCENARIOS = ['VALID', 'REVOKED', 'SUSPENDED', 'EXPIRED', 'FOREIGN_ISSUER', 'NO_CNF'] as const
type CredentialScenario = (typeof CREDENTIAL_SCENARIOS)[number]

const DAY_SECONDS = 86_400
const STATUS_INDEX: Partial<Record<CredentialScenario, number>> = { REVOKED: 1, SUSPENDED: 2 }
const STATUS_SIZE = 8

export interface SandboxCredential {
  holderJwk: JWK
  vct: string
  claims: Readonly<Record<string, JsonValue>>
  scenario: CredentialScenario
}

export async function issueSandboxCredential(
  { holderJwk, vct, claims, scenario }: SandboxCredential,
  { privateJwk, publicJwk }: SigningKey,
  now: number,
  random: (size: number) => Buffer,
): Promise<string> {
  const plain = {
    iss: scenario === 'FOREIGN_ISSUER' ? FOREIGN_ISSUER : SANDBOX_ISSUER,
    vct,
    iat: now - DAY_SECONDS,
    exp: scenario === 'EXPIRED' ? now - 3_600 : now + 90 * DAY_SECONDS,
    status: { status_list: { uri: STATUS_URI, idx: STATUS_INDEX[scenario] ?? 0 } },
    ...(scenario === 'NO_CNF' ? {} : { cnf: { jwk: holderJwk } }),
  }
  return await issueSdJwt(plain, claims, { kid: publicJwk.kid ?? '', key: privateJwk }, random)
}

/** Trusted in the sandbox for the requested types. */
export function sandboxIssuer(publicJwk: JWK, vctValues: readonly string[]): TrustedIssuer {
  return {
    id: 'sandbox',
    iss: SANDBOX_ISSUER,
    vctValues,
    keys: [publicJwk],
    caCertificates: [],
    statusHosts: [],
    hasMetadata: false,
    isOperators: true,
    assurance: 'HIGH',
  }
}

/** Returns null for another address. `now` is seconds since the epoch. */
export async function sandboxStatusToken(uri: string, { privateJwk, publicJwk }: SigningKey, now: number) {
  if (uri !== STATUS_URI) return null
  const statuses = new Map([
    [1, 1],
    [2, 2],
  ])
  const lst = await deflateList(STATUS_SIZE, 2, statuses)
  const claims = { iss: SANDBOX_ISSUER, sub: uri, iat: now, ttl: 300, status_list: { bits: 2, lst } }
  return await signJwt(claims, { typ: 'statuslist+jwt', kid: publicJwk.kid ?? '' }, privateJwk)
}
