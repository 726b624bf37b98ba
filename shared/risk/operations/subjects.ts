import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError, ForbiddenError, NotFoundError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { toMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import { assuranceOf } from '../identity/assurance.ts'
import { eraseValues, findErasure, insertErasure } from '../identity/erasure-store.ts'
import { listPassports } from '../identity/passport-store.ts'
import { checkTransition, type Mover } from '../identity/requests.ts'
import type { IdentityState, Subject } from '../identity/subject.ts'
import { insertSubject, insertTransition, lockSubject, setAssurance } from '../identity/subject-store.ts'
import { factorsOf } from '../identity/verification.ts'
import { listVerifications } from '../identity/verification-store.ts'
import { instant, type OperationDeps } from './deps.ts'
import { revokeAll } from './issue-identity-passport.ts'

/** The caller's reference is sealed; anchored objects use a random reference. */
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

/** @throws NotFoundError */
export async function unsealSubject(tx: Knex.Transaction, owner: Owner, id: string): Promise<Subject> {
  const subject = await lockSubject(tx, owner, id)
  if (!subject) throw new NotFoundError('subject not found')
  return subject
}

/** Without factors it expires now. */
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

const EVENT_TYPE = 'identity.state_changed'

export interface Move {
  by: Mover
  reasonCode: string
  /** sealed, never anchored */
  reason?: string
}

/** The subject is locked. @throws ConflictError; ForbiddenError for a service's transition */
export async function moveSubject(
  tx: Knex.Transaction,
  subject: Subject,
  to: IdentityState,
  { by, reasonCode, reason }: Move,
  deps: OperationDeps,
) {
  const { id, env, organisationId, ref, state: from } = subject
  const evaluated = checkTransition(from, to, by)
  if (evaluated === 'forbidden') throw new ForbiddenError(`only the service can change ${from} to ${to}`)
  const isOver = from === 'SUSPENDED' && to === 'VERIFIED' && !isAssured(subject, toMillis(deps.now()))
  if (evaluated === 'impossible' || isOver) {
    const message = isOver ? 'the assurance has expired' : `an identity that is ${from} cannot become ${to}`
    throw new ConflictError(message, [{ path: 'to', code: isOver ? 'ASSURANCE_EXPIRED' : from, message }])
  }
  const timestamp = instant(deps.now())
  const transitionId = randomUUID()
  const facts = { transitionId, subjectRef: ref, from, to, reasonCode }
  const record = await anchorRecord(tx, env, EVENT_TYPE, timestamp, facts)
  await insertTransition(tx, id, {
    id: transitionId,
    to,
    body: canonicalize(record),
    sealedReason: reason === undefined ? null : deps.secrets.seal('identity', reason),
  })
  await recordEvent(tx, deps.enqueue, {
    env,
    organisationId,
    type: EVENT_TYPE,
    dealId: id,
    fields: ['subjectRef', 'from', 'to', 'reasonCode'],
    occurredAt: timestamp,
  })
  return record
}

function isAssured({ assuranceExpiresAt }: Subject, nowMs: number): boolean {
  return assuranceExpiresAt !== null && assuranceExpiresAt.getTime() > nowMs
}

/** Also revokes passports and identity, once. @throws NotFoundError */
export async function eraseSubject(
  tx: Knex.Transaction,
  owner: Owner,
  subjectId: string,
  deps: OperationDeps,
): Promise<object> {
  const subject = await unsealSubject(tx, owner, subjectId)
  const before = await findErasure(tx, subjectId)
  if (before !== undefined) return JSON.parse(before)
  const at = new Date(toMillis(deps.now()))
  const passports = await revokeAll(tx, owner, await listPassports(tx, subjectId), deps)
  if (subject.state !== 'REVOKED') {
    await moveSubject(tx, subject, 'REVOKED', { by: 'ERASURE', reasonCode: 'ERASED' }, deps)
  }
  const counts = { ...(await eraseValues(tx, subjectId, at)), passports }
  const facts = { erasureId: randomUUID(), subjectRef: subject.ref, counts }
  const record = await anchorRecord(tx, owner.env, 'identity.erased', instant(deps.now()), facts)
  await insertErasure(tx, subjectId, canonicalize(record), at)
  return record
}
