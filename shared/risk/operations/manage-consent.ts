import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError, NotFoundError, ValidationError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { toMillis } from '../../time.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import type { Consent } from '../identity/consent.ts'
import { findConsent, insertConsent, setWithdrawn } from '../identity/consent-store.ts'
import type { ConsentRequest } from '../identity/identity-requests.ts'
import { revokeByConsent } from '../identity/verification-store.ts'
import type { MissingReason } from '../registries/connector.ts'
import { instant, type OperationDeps } from './deps.ts'
import { refreshAssurance, unsealSubject } from './subjects.ts'

/** @throws NotFoundError; ValidationError for an expired one */
export async function recordConsent(
  tx: Knex.Transaction,
  owner: Owner,
  { subjectId, purpose, fields, expiresAt, noticeSha256, obtainedVia }: ConsentRequest,
  deps: Pick<OperationDeps, 'now'>,
) {
  const ends = new Date(expiresAt)
  if (ends.getTime() <= toMillis(deps.now())) {
    const message = 'expiresAt must be in the future'
    throw new ValidationError(message, [{ path: 'expiresAt', code: 'TOO_EARLY', message }])
  }
  const subject = await unsealSubject(tx, owner, subjectId)
  if (subject.state === 'REVOKED') {
    const message = 'the identity is revoked'
    throw new ConflictError(message, [{ path: 'subjectId', code: 'REVOKED', message }])
  }
  const consentId = randomUUID()
  const record = await anchorRecord(tx, owner.env, 'identity.consent_recorded', instant(deps.now()), {
    consentId,
    subjectRef: subject.ref,
    purpose,
    fields,
    expiresAt: ends.toISOString(),
    noticeSha256: noticeSha256 ?? null,
    obtainedVia: obtainedVia ?? null,
  })
  const body = canonicalize(record)
  await insertConsent(tx, owner, { id: consentId, subjectId, purpose, fields, expiresAt: ends, record: body })
  return record
}

/** Deletes values read under it. @throws NotFoundError; ConflictError */
export async function withdrawConsent(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
  deps: Pick<OperationDeps, 'now'>,
) {
  const consent = await findConsent(tx, owner, id)
  if (!consent) throw new NotFoundError('consent not found')
  const subject = await unsealSubject(tx, owner, consent.subjectId)
  const timestamp = instant(deps.now())
  const at = new Date(toMillis(deps.now()))
  const facts = { withdrawalId: randomUUID(), consentId: id, subjectRef: subject.ref }
  const record = await anchorRecord(tx, owner.env, 'identity.consent_withdrawn', timestamp, facts)
  if (!(await setWithdrawn(tx, id, at, canonicalize(record)))) {
    const message = 'the consent is already withdrawn'
    throw new ConflictError(message, [{ path: 'consentId', code: 'WITHDRAWN', message }])
  }
  if ((await revokeByConsent(tx, id, at)) > 0) await refreshAssurance(tx, subject, deps)
  return record
}

/** Returns null when the consent permits the query. */
export function consentError(
  consent: Consent | undefined,
  read: { subjectId: string; field: string; purpose: string },
  nowMs: number,
): MissingReason | null {
  const isCovering =
    consent?.subjectId === read.subjectId && consent.purpose === read.purpose && consent.fields.includes(read.field)
  if (!consent || !isCovering) return 'NO_CONSENT'
  if (consent.withdrawnAt !== null) return 'CONSENT_REVOKED'
  return consent.expiresAt.getTime() <= nowMs ? 'CONSENT_EXPIRED' : null
}
