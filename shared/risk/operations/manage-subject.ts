import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { NotFoundError } from '../../errors.ts'
import { toMillis } from '../../time.ts'
import { assuranceOf } from '../identity/assurance.ts'
import type { Subject } from '../identity/subject.ts'
import { insertSubject, lockSubject, setAssurance } from '../identity/subject-store.ts'
import { factorsOf } from '../identity/verification.ts'
import { listVerifications } from '../identity/verification-store.ts'
import type { Owner } from '../jobs/job.ts'
import type { OperationDeps } from './deps.ts'

/** Makes a subject. What the caller calls it is sealed: anchored objects call it by a random reference. */
export async function createSubject(
  tx: Knex.Transaction,
  owner: Owner,
  { externalRef, kind }: { externalRef: string; kind: Subject['kind'] },
  deps: Pick<OperationDeps, 'secrets'>,
) {
  const id = randomUUID()
  const ref = `sr_${randomBytes(16).toString('base64url')}`
  await insertSubject(tx, owner, { id, ref, kind, sealedExternalRef: deps.secrets.seal('identity', externalRef) })
  return { subjectId: id, subjectRef: ref, state: 'UNVERIFIED' as const }
}

/** The subject of an id, locked. @throws NotFoundError */
export async function unsealSubject(tx: Knex.Transaction, owner: Owner, id: string): Promise<Subject> {
  const subject = await lockSubject(tx, owner, id)
  if (!subject) throw new NotFoundError('there is no such subject')
  return subject
}

/**
 * Counts the factors of a subject anew. One that has none left is over now: the sweeper lets a verified identity
 * expire.
 */
export async function refreshAssurance(
  tx: Knex.Transaction,
  subject: Subject,
  deps: Pick<OperationDeps, 'now'>,
): Promise<Subject> {
  const nowMs = toMillis(deps.now())
  const assurance = assuranceOf(factorsOf(await listVerifications(tx, subject.id)), nowMs)
  const expiresAt = assurance.expiresAt ?? new Date(nowMs)
  await setAssurance(tx, subject.id, assurance.level, expiresAt)
  return { ...subject, assuranceLevel: assurance.level, assuranceExpiresAt: expiresAt }
}
