import { randomUUID } from 'node:crypto'
import type { JWK } from 'jose'
import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { ConflictError, ValidationError } from '../../errors.ts'
import type { TrustedIssuer } from '../credentials/trusted-issuer.ts'
import { type IssuerRequest, unusableKey } from '../identity/issuer-requests.ts'
import { insertIssuer } from '../identity/issuer-store.ts'

/**
 * Trusts an issuer for credentials of some types.
 * @param organisationId null for the operator, who trusts for everybody
 * @throws ValidationError for a key that cannot be used, ConflictError when it is trusted already
 */
export async function trustIssuer(
  tx: Knex,
  owner: { organisationId: number | null; env: ApiEnv },
  asked: IssuerRequest,
): Promise<Omit<TrustedIssuer, 'isOperators'>> {
  // Validated: only members of public keys are left.
  const keys = (asked.jwks?.keys ?? []) as JWK[]
  const unusable = await unusableKey(keys)
  if (unusable !== null) {
    const path = `jwks.keys[${unusable}]`
    const message = `${path} cannot be used`
    throw new ValidationError(message, [{ path, code: 'KEY_UNUSABLE', message }])
  }
  const issuer = {
    id: randomUUID(),
    iss: asked.iss,
    vctValues: asked.vctValues,
    keys,
    caCertificates: asked.caCertificates ?? [],
    statusHosts: asked.statusHosts,
    hasMetadata: asked.issuerMetadata === true,
    assurance: asked.assurance,
  }
  if (!(await insertIssuer(tx, owner, issuer))) {
    const message = 'this issuer is trusted already; withdraw that first'
    throw new ConflictError(message, [{ path: 'iss', code: 'TRUSTED', message }])
  }
  return issuer
}
