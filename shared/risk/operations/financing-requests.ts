import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import type { z } from 'zod'
import { financingRequested } from '../../contracts/worker-messages.ts'
import { ConflictError, NotFoundError, RateLimitedError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { type JobContext, type JobDeps, runJob } from '../../jobs/operations/jobs.ts'
import type { Config } from '../../platform/process/config.ts'
import { lockOrganisation } from '../../tenancy/accounts/store.ts'
import type { StoredAnswer } from '../../tenancy/idempotency/store.ts'
import { toMillis } from '../../time.ts'
import { isUuid } from '../../uuid.ts'
import { requireLiveEpochs } from '../first-financing/epoch-store.ts'
import type { Registration } from '../first-financing/receivable.ts'
import { countOpen, findRegistration, lockRegistration, offerTransfer } from '../first-financing/registration-store.ts'
import { isBlind, type ReceivableInput } from '../first-financing/request-fingerprints.ts'
import {
  type AcceptanceRequest,
  type AcceptBody,
  type BlindAcceptBody,
  type BlindCheckBody,
  type BlindDisputeBody,
  type BlindRegistrationBody,
  type CheckBody,
  type CheckRequest,
  type DisputeBody,
  type DisputeRequestBody,
  type RegistrationBody,
  type RegistrationRequestBody,
  receivableOf,
} from '../first-financing/requests.ts'
import { stateAfter, stateAt } from '../first-financing/states.ts'
import { reserveUnits } from '../metering/counter-store.ts'

type Limits = Pick<Config, 'financingElementsPerDay' | 'financingChecksPerDay'>

/** Elements that a receivable by its fields counts; a window counts eight more. */
const ELEMENTS = 4
const WINDOW_ELEMENTS = 12

/** Registrations end by the day, so a retry within the hour is enough. */
const RETRY_OPEN_SECONDS = 3600

/**
 * Takes four elements by fields, none by fingerprints, since those were counted when they were evaluated.
 * Fingerprints must be those of the live epochs. @throws RateLimitedError, ValidationError
 */
export async function countInput(
  tx: Knex.Transaction,
  owner: Owner,
  given: ReceivableInput,
  { isCheck, window = false }: { isCheck: boolean; window?: boolean },
  deps: { config: Limits },
): Promise<void> {
  if (isBlind(given)) await requireLiveEpochs(tx, owner.env, given.fingerprints)
  const elements = isBlind(given) ? 0 : window ? WINDOW_ELEMENTS : ELEMENTS
  await countEvaluation(tx, owner, { elements, isCheck }, deps)
}

/** An evaluation is the only way to guess. @throws RateLimitedError until midnight in India */
export async function countEvaluation(
  tx: Knex.Transaction,
  owner: Owner,
  { elements, isCheck }: { elements: number; isCheck: boolean },
  { config }: { config: Limits },
): Promise<void> {
  const seconds = await reserveUnits(tx, owner, [
    { name: 'financing.elements', count: elements, limit: config.financingElementsPerDay },
    { name: 'financing.checks', count: isCheck ? 1 : 0, limit: config.financingChecksPerDay },
  ])
  if (seconds !== null) {
    throw new RateLimitedError('the daily limit of evaluations of the organisation is reached', seconds)
  }
}

/** Registrations that a worker has not stored yet count as open. @throws RateLimitedError */
export async function limitOpen(
  tx: Knex.Transaction,
  owner: Owner,
  { config }: { config: Pick<Config, 'financingOpenRegistrations'> },
): Promise<void> {
  const most = config.financingOpenRegistrations
  if (most === 0) return
  await lockOrganisation(tx, owner.organisationId)
  if ((await countOpen(tx, owner, most)) >= most) {
    throw new RateLimitedError(`an organisation has at most ${most} open registrations`, RETRY_OPEN_SECONDS)
  }
}

export const CHECKS = '/v1/first-financing/checks'

/** `admit` adds conditions in the transaction. @throws RateLimitedError */
export async function runFinancingCheck(
  context: JobContext,
  body: z.output<typeof CheckBody> | z.output<typeof BlindCheckBody>,
  admit?: (tx: Knex.Transaction) => Promise<void>,
): Promise<StoredAnswer> {
  const { caller, deps } = context
  const request = requestOf(body)
  return await runJob(context, {
    kind: 'financing.check',
    message: financingRequested,
    folder: CHECKS,
    request,
    async before(tx) {
      await countInput(tx, caller, request.receivable, { isCheck: true, window: request.window }, deps)
      await admit?.(tx)
    },
  })
}

function requestOf(body: z.output<typeof CheckBody> | z.output<typeof BlindCheckBody>): CheckRequest {
  if ('fingerprints' in body) {
    const { statement, ...receivable } = body
    return { receivable, window: false, statement }
  }
  const { window, statement, ...receivable } = body
  return { receivable, window, statement }
}

export const DISPUTES = '/v1/first-financing/disputes'

/** `admit` adds conditions in the transaction. @throws RateLimitedError */
export async function runDispute(
  context: JobContext,
  body: z.output<typeof DisputeRequestBody> | z.output<typeof BlindDisputeBody>,
  admit?: (tx: Knex.Transaction) => Promise<void>,
): Promise<StoredAnswer> {
  const { caller, deps } = context
  const { reason, evidenceSha256 = null } = body
  const request: DisputeBody = { receivable: receivableOf(body), reason, evidenceSha256 }
  return await runJob(context, {
    kind: 'financing.dispute',
    message: financingRequested,
    folder: DISPUTES,
    request,
    async before(tx) {
      await countInput(tx, caller, request.receivable, { isCheck: false }, deps)
      await admit?.(tx)
    },
  })
}

export const REGISTRATIONS = '/v1/first-financing/registrations'

/** `admit` adds conditions in the transaction. @throws RateLimitedError */
export async function runRegistration(
  context: JobContext,
  body: z.output<typeof RegistrationRequestBody> | z.output<typeof BlindRegistrationBody>,
  admit?: (tx: Knex.Transaction) => Promise<void>,
): Promise<StoredAnswer> {
  const { dueDate = null, dealId = null, lenderRef = null, ...fields } = body
  const { caller, deps } = context
  const request: RegistrationBody = { fields, dueDate, dealId, lenderRef }
  return await runJob(context, {
    kind: 'financing.registration',
    message: financingRequested,
    folder: REGISTRATIONS,
    request,
    async before(tx) {
      await limitOpen(tx, caller, deps)
      await countInput(tx, caller, fields, { isCheck: false }, deps)
      await admit?.(tx)
    },
  })
}

/** @throws NotFoundError */
export async function requireRegistration(tx: Knex.Transaction, owner: Owner, id: string): Promise<Registration> {
  const registration = isUuid(id) ? await findRegistration(tx, owner, id) : undefined
  const locked = registration && (await lockRegistration(tx, id))
  if (!locked) throw new NotFoundError('registration not found')
  return locked
}

const OFFER_MS = 72 * 3_600_000

/** The holder of the returned token may accept. @throws NotFoundError, ConflictError */
export async function createTransferOffer(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
  deps: Pick<JobDeps, 'now' | 'secrets'>,
) {
  const registration = await requireRegistration(tx, owner, id)
  const nowMs = toMillis(deps.now())
  if (stateAfter(registration, 'transfer', nowMs) === null) {
    const state = stateAt(registration, nowMs)
    const message = `the registration is ${state} and cannot be transferred`
    throw new ConflictError(message, [{ path: 'registrationId', code: state, message }])
  }
  const transferToken = randomBytes(32).toString('base64url')
  const expiresAt = new Date(nowMs + OFFER_MS)
  await offerTransfer(tx, registration.id, deps.secrets.digest(transferToken), expiresAt)
  return { registrationId: registration.id, transferToken, expiresAt: expiresAt.toISOString() }
}

/** `admit` adds conditions in the transaction. */
export async function runTransferAcceptance(
  context: JobContext,
  body: z.output<typeof AcceptBody> | z.output<typeof BlindAcceptBody>,
  admit?: (tx: Knex.Transaction) => Promise<void>,
): Promise<StoredAnswer> {
  const { caller, deps } = context
  const request: AcceptanceRequest = { transferToken: body.transferToken, receivable: receivableOf(body) }
  return await runJob(context, {
    kind: 'financing.acceptance',
    message: financingRequested,
    folder: REGISTRATIONS,
    request,
    async before(tx) {
      await countInput(tx, caller, request.receivable, { isCheck: false }, deps)
      await admit?.(tx)
    },
  })
}
