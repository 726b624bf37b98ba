import type { Knex } from 'knex'
import { toMillis } from '../../time.ts'
import type { Subject } from '../identity/subject.ts'
import { lockSubject } from '../identity/subject-store.ts'
import { type DueStatus, revokeVerification } from '../identity/verification-store.ts'
import type { OperationDeps } from './deps.ts'
import { refreshAssurance } from './manage-subject.ts'
import { moveSubject } from './move-subject.ts'

/** Suspends an identity whose credential its issuer revoked or suspended; that credential counts no longer. */
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

/** Lets a verified identity expire whose assurance is over; it is locked in this transaction. */
export async function expireSubject(tx: Knex.Transaction, subject: Subject, deps: OperationDeps): Promise<void> {
  await moveSubject(tx, subject, 'EXPIRED', { by: 'SWEEPER', reasonCode: 'ASSURANCE_EXPIRED' }, deps)
}
