import type { Knex } from 'knex'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import type { Dispute } from '../first-financing/dispute.ts'
import { findDispute, answerDispute as storeAnswer } from '../first-financing/dispute-store.ts'
import { lockRegistration } from '../first-financing/registration-store.ts'
import type { OperationDeps } from './deps.ts'
import { moveRegistration } from './registrations.ts'

/** CONFIRM keeps the registration, RELEASE ends it. Only for the holder. @throws NotFoundError; ConflictError */
export async function answerDispute(
  tx: Knex.Transaction,
  owner: Owner,
  disputeId: string,
  answer: 'CONFIRM' | 'RELEASE',
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<Dispute> {
  const dispute = await findDispute(tx, owner, disputeId)
  if (dispute?.holderId !== owner.organisationId) throw new NotFoundError('dispute not found')
  const registration = await lockRegistration(tx, dispute.registrationId)
  const state = answer === 'CONFIRM' ? 'CONFIRMED' : 'RELEASED'
  if (!(await storeAnswer(tx, disputeId, state))) {
    const message = 'the dispute is already answered'
    throw new ConflictError(message, [{ path: 'answer', code: 'ANSWERED', message }])
  }
  if (answer === 'RELEASE' && registration) {
    const action = registration.state === 'REGISTERED' ? 'cancel' : 'release'
    await moveRegistration(tx, registration, action, {}, deps)
  }
  return { ...dispute, state }
}
