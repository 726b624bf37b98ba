import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError, ForbiddenError } from '../../errors.ts'
import { toMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import type { IdentityState, Subject } from '../identity/subject.ts'
import { insertTransition } from '../identity/subject-store.ts'
import { checkTransition, type Mover } from '../identity/transitions.ts'
import { instant, type OperationDeps } from './deps.ts'

const EVENT_TYPE = 'identity.state_changed'

/** Who moves an identity, and why. */
export interface Move {
  by: Mover
  /** a code that is anchored */
  reasonCode: string
  /** in the caller's words: sealed, and never anchored */
  reason?: string
}

/**
 * Moves a subject that is locked in this transaction; the transition is anchored.
 * @throws ConflictError for a transition that there is not, ForbiddenError for one that only the service makes
 */
export async function moveSubject(
  tx: Knex.Transaction,
  subject: Subject,
  to: IdentityState,
  { by, reasonCode, reason }: Move,
  deps: OperationDeps,
) {
  const { id, env, organisationId, ref, state: from } = subject
  const evaluated = checkTransition(from, to, by)
  if (evaluated === 'forbidden') throw new ForbiddenError(`${from} becomes ${to} by the service itself alone`)
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
