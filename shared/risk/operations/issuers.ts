import { randomUUID } from 'node:crypto'
import type { JWK } from 'jose'
import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { ConflictError, type FieldError, ValidationError } from '../../errors.ts'
import {
  checkUrl,
  compilePolicy,
  type TargetPolicy,
  targetCode,
  targetProblemTexts,
} from '../../platform/http/target-policy.ts'
import type { Config } from '../../platform/process/config.ts'
import { toMillis } from '../../time.ts'
import type { TrustedIssuer } from '../credentials/trusted-issuer.ts'
import { type IssuerRequest, unusableKey } from '../identity/issuer-requests.ts'
import { insertIssuer } from '../identity/issuer-store.ts'
import type { Subject } from '../identity/subject.ts'
import { lockSubject } from '../identity/subject-store.ts'
import { type DueStatus, revokeVerification } from '../identity/verification-store.ts'
import type { OperationDeps } from './deps.ts'
import { moveSubject, refreshAssurance } from './subjects.ts'

/** `organisationId` null means the operator. @throws ValidationError; ConflictError */
export async function trustIssuer(
  tx: Knex,
  owner: { organisationId: number | null; env: ApiEnv },
  request: IssuerRequest,
  { config }: { config: Pick<Config, 'allowPrivateTargets'> },
): Promise<Omit<TrustedIssuer, 'isOperators'>> {
  const faults = issuerFaults(request, {
    organisationId: owner.organisationId,
    allowPrivate: config.allowPrivateTargets,
  })
  const [fault] = faults
  if (fault) throw new ValidationError(fault.message, faults)
  // Validated: only members of public keys are left.
  const keys = (request.jwks?.keys ?? []) as JWK[]
  const unusable = await unusableKey(keys)
  if (unusable !== null) {
    const path = `jwks.keys[${unusable}]`
    const message = `${path} cannot be imported as a public key`
    throw new ValidationError(message, [{ path, code: 'KEY_UNUSABLE', message }])
  }
  const issuer = {
    id: randomUUID(),
    iss: request.iss,
    vctValues: request.vctValues,
    keys,
    caCertificates: request.caCertificates ?? [],
    statusHosts: request.statusHosts,
    hasMetadata: request.issuerMetadata === true,
    assurance: request.assurance,
  }
  if (!(await insertIssuer(tx, owner, issuer))) {
    const message = 'the issuer is already trusted; delete it first'
    throw new ConflictError(message, [{ path: 'iss', code: 'TRUSTED', message }])
  }
  return issuer
}

/** Names are not resolved, because every connection checks them. */
export function issuerFaults(
  { iss, statusHosts, assurance }: Pick<IssuerRequest, 'iss' | 'statusHosts' | 'assurance'>,
  { organisationId, allowPrivate }: { organisationId: number | null; allowPrivate: TargetPolicy['allowPrivate'] },
): FieldError[] {
  const policy = compilePolicy({ allowPrivate, plainHttp: 'allowed-networks' })
  const targets = [
    { path: 'iss', url: iss },
    ...statusHosts.map((host, at) => ({ path: `statusHosts[${at}]`, url: `https://${host}/` })),
  ]
  const faults = targets.flatMap(({ path, url }): FieldError[] => {
    const result = checkUrl(url, policy)
    if (result.ok) return []
    return [{ path, code: targetCode(result.reason), message: `${path} ${targetProblemTexts[result.reason]}` }]
  })
  if (organisationId !== null && assurance === 'HIGH') {
    const message = 'assurance must be SUBSTANTIAL: only the operator of this installation can set HIGH'
    faults.push({ path: 'assurance', code: 'NOT_PERMITTED', message })
  }
  return faults
}

/** The issuer revoked or suspended the credential; revokes that verification. */
export async function suspendByStatus(
  tx: Knex.Transaction,
  { id, subjectId, organisationId, env }: DueStatus,
  deps: OperationDeps,
): Promise<void> {
  const subject = await lockSubject(tx, { organisationId, env }, subjectId)
  if (!subject) return
  await revokeVerification(tx, id, new Date(toMillis(deps.now())))
  await refreshAssurance(tx, subject, deps)
  if (subject.state !== 'VERIFIED') return
  await moveSubject(tx, subject, 'SUSPENDED', { by: 'STATUS_LIST', reasonCode: 'CREDENTIAL_REVOKED' }, deps)
}

/** The subject is locked in this transaction. */
export async function expireSubject(tx: Knex.Transaction, subject: Subject, deps: OperationDeps): Promise<void> {
  await moveSubject(tx, subject, 'EXPIRED', { by: 'SWEEPER', reasonCode: 'ASSURANCE_EXPIRED' }, deps)
}
