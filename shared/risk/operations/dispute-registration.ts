import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError } from '../../errors.ts'
import type { FieldCode } from '../../field-codes.ts'
import type { Owner } from '../../jobs/job.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { commit } from '../evidence/commitment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import type { Dispute } from '../first-financing/dispute.ts'
import { insertDispute } from '../first-financing/dispute-store.ts'
import type { FinancingKeys } from '../first-financing/fingerprint.ts'
import { searchTerms } from '../first-financing/fingerprints-of-request.ts'
import type { ReceivableInput } from '../first-financing/request-fingerprints.ts'
import { findHolder } from '../first-financing/store.ts'
import { instant, type OperationDeps } from './deps.ts'

const EVENT_TYPE = 'first_financing.disputed'
const ANSWER_DAYS = 7
const DAY_MS = 86_400_000

export interface DisputeRequest {
  receivable: ReceivableInput
  reason: string
  evidenceSha256: string | null
}

/** The service does not decide the dispute. */
export async function disputeRegistration(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
  { receivable, reason, evidenceSha256 }: DisputeRequest,
  keys: FinancingKeys,
  deps: OperationDeps,
): Promise<{ dispute: Dispute } | { refusal: ConflictError }> {
  const holder = await findHolder(tx, owner.env, searchTerms(keys, receivable, false))
  if (!holder?.isRegistration || holder.organisationId === owner.organisationId) {
    return conflict('receivable', 'NOT_HELD', 'no other organisation has registered this receivable')
  }
  const timestamp = instant(deps.now())
  const { sealed, commitments } = commit({ reason }, randomBytes)
  const facts = { disputeId: id, evidenceSha256, commitments }
  const record = canonicalize(await anchorRecord(tx, owner.env, EVENT_TYPE, timestamp, facts))
  const dispute: Omit<Dispute, 'state'> = {
    id,
    registrationId: holder.recordId,
    holderId: holder.organisationId,
    ...owner,
    record,
    openedAt: new Date(timestamp),
    answerBy: new Date(Date.parse(timestamp) + ANSWER_DAYS * DAY_MS),
  }
  if (
    !(await insertDispute(tx, { ...dispute, sealedReason: deps.secrets.seal('financing', JSON.stringify(sealed)) }))
  ) {
    return conflict('receivable', 'OPEN', 'the organisation already has an open dispute about it')
  }
  await recordEvent(tx, deps.enqueue, {
    env: owner.env,
    organisationId: holder.organisationId,
    type: EVENT_TYPE,
    dealId: holder.dealId ?? holder.recordId,
    fields: ['registrationId', 'disputeId', 'answerBy'],
    occurredAt: timestamp,
  })
  return { dispute: { ...dispute, state: 'OPEN' } }
}

function conflict(path: string, code: FieldCode, message: string) {
  return { refusal: new ConflictError(message, [{ path, code, message }]) }
}
