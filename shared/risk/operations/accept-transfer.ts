import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { FieldCode } from '../../field-codes.ts'
import type { Owner } from '../../jobs/job.ts'
import { toMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import type { FinancingKeys } from '../first-financing/fingerprint.ts'
import { allFingerprints, searchTerms } from '../first-financing/fingerprints-of-request.ts'
import type { Registration, SealedReceivable } from '../first-financing/receivable.ts'
import {
  insertRegistration,
  isReceivableOf,
  setState,
  spendOffer,
  takeOffer,
} from '../first-financing/registration-store.ts'
import { isBlind, type ReceivableInput } from '../first-financing/request-fingerprints.ts'
import { recordFingerprints } from '../first-financing/store.ts'
import { recordUsage } from '../metering/store.ts'
import { instant, type OperationDeps } from './deps.ts'

const EVENT_TYPE = 'first_financing.transferred'

/** The new registration keeps the first-seen date. A wrong receivable does not consume the token. */
export async function acceptTransfer(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
  { transferToken, receivable }: { transferToken: string; receivable: ReceivableInput },
  keys: FinancingKeys,
  deps: OperationDeps,
): Promise<{ registration: Registration } | { refusal: ConflictError | NotFoundError }> {
  const offer = await takeOffer(tx, owner.env, deps.secrets.digests(transferToken))
  if (offer?.isSpent) return conflict('transferToken', 'SPENT', 'the token has been used')
  const offered = offer?.offered
  const isOpen = offered?.state === 'FINANCED' && offered.expiresAt.getTime() > toMillis(deps.now())
  if (!offered || !isOpen) return { refusal: new NotFoundError('there is no open offer with this token') }
  if (offered.organisationId === owner.organisationId)
    return conflict('transferToken', 'OWN', 'the receivable is already held by your organisation')
  if (!(await isReceivableOf(tx, offered.id, searchTerms(keys, receivable, false)))) {
    return conflict('receivable', 'OTHER_RECEIVABLE', 'the offer is for another receivable')
  }
  const timestamp = instant(deps.now())
  const facts = { transferRecordId: randomUUID(), registrationId: id }
  const record = canonicalize(await anchorRecord(tx, owner.env, EVENT_TYPE, timestamp, facts))
  await setState(tx, offered.id, { ...offered, state: 'TRANSFERRED' })
  await spendOffer(tx, offered.id)
  const sealed: SealedReceivable = { fields: isBlind(receivable) ? null : receivable, lenderRef: null, salts: {} }
  const registration: Registration = {
    ...offered,
    ...owner,
    id,
    state: 'FINANCED',
    mode: isBlind(receivable) ? 'BLIND' : 'FIELDS',
    dealId: null,
    sealedReceivable: deps.secrets.seal('financing', JSON.stringify(sealed)),
    renewals: 0,
    createdAt: new Date(timestamp),
    record,
  }
  await insertRegistration(tx, registration)
  const fingerprints = allFingerprints(keys, receivable)
  await recordFingerprints(
    tx,
    { ...owner, recordId: id, fingerprints },
    { state: 'FINANCED', expiresAt: null, firstSeenAt: offered.firstSeenAt },
  )
  await recordUsage(tx, { ...owner, family: 'first-financing', unitKey: `registration/${id}` })
  const event = { env: owner.env, fields: ['registrationId', 'state'], occurredAt: timestamp }
  await recordEvent(tx, deps.enqueue, {
    ...event,
    organisationId: owner.organisationId,
    type: 'first_financing.registered',
    dealId: id,
  })
  await recordEvent(tx, deps.enqueue, {
    ...event,
    organisationId: offered.organisationId,
    type: 'first_financing.released',
    dealId: offered.dealId ?? offered.id,
  })
  return { registration }
}

function conflict(path: string, code: FieldCode, message: string) {
  return { refusal: new ConflictError(message, [{ path, code, message }]) }
}
