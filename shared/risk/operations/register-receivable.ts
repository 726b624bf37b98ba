import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import { ConflictError, UnavailableError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { toMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { commit } from '../evidence/commitment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import type { FinancingKeys, Fingerprint } from '../first-financing/fingerprint.ts'
import { allFingerprints, searchTerms } from '../first-financing/fingerprints-of-request.ts'
import type { ReceivableFields, Registration, SealedReceivable } from '../first-financing/receivable.ts'
import {
  findRegistration,
  insertRegistration,
  isReceivableOf,
  lockRegistration,
} from '../first-financing/registration-store.ts'
import { isBlind, type ReceivableInput, type RequestFingerprints } from '../first-financing/request-fingerprints.ts'
import { REGISTERED_DAYS } from '../first-financing/states.ts'
import {
  dropRegistered,
  findHolder,
  findLapsed,
  type Holder,
  recordFingerprints,
  registerExact,
} from '../first-financing/store.ts'
import { recordUsage } from '../metering/store.ts'
import { instant, type OperationDeps } from './deps.ts'
import { addFingerprints } from './registration-epochs.ts'
import { lapseRegistration } from './registrations.ts'

const EVENT_TYPE = 'first_financing.registered'
const DAY_MS = 86_400_000
/** Each round sees the commits of concurrent transactions; two rounds are usual under contention. */
const MAX_ROUNDS = 20
/** Accepted difference between the clocks of the database and this process. */
const CLOCK_SLACK_MS = 1_000

export interface RegistrationRequest {
  /** the fields, or fingerprints that hide them */
  fields: ReceivableInput
  dueDate: string | null
  dealId: string | null
  lenderRef: string | null
  /** sandbox only: a test scenario in which another organisation holds the receivable */
  isRegisteredElsewhere: boolean
}

/** `writes` is for statements without a result, in the same transaction. */
export interface RegisteringDeps extends OperationDeps {
  writes: Knex.Transaction
}

export type Registered = { registration: Registration; isNew: boolean } | { refusal: ConflictError }

/**
 * Registers a receivable unless another organisation holds it. Of concurrent requests, the unique index of fingerprints
 * admits one. A receivable that a pack of the same organisation holds is taken over.
 */
export async function registerReceivable(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
  request: RegistrationRequest,
  keys: FinancingKeys,
  deps: RegisteringDeps,
): Promise<Registered> {
  const terms = searchTerms(keys, request.fields, false)
  const newFingerprints = allFingerprints(keys, request.fields)
  if (request.isRegisteredElsewhere) return await refuse(tx, owner, id, request, undefined, deps)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // Both run at once: `findHolder` ignores expired records, even if they are not marked as lapsed yet.
    const [lapsed, holder] = await Promise.all([findLapsed(tx, owner.env, terms), findHolder(tx, owner.env, terms)])
    for (const recordId of lapsed) await lapse(tx, recordId, terms, deps)
    if (!holder) {
      const expiresAt = new Date(toMillis(deps.now()) + REGISTERED_DAYS * DAY_MS)
      const record = { ...owner, recordId: id, fingerprints: newFingerprints }
      // A concurrent winner has committed, so the next round sees it.
      if (!(await registerExact(tx, record, { state: 'REGISTERED', expiresAt: null }))) continue
      await recordFingerprints(deps.writes, record, { state: 'REGISTERED', expiresAt: null })
      return { registration: await store(tx, owner, id, request, expiresAt, deps), isNew: true }
    }
    if (holder.organisationId !== owner.organisationId) return await refuse(tx, owner, id, request, holder, deps)
    if (!holder.isRegistration) {
      await dropRegistered(tx, holder.recordId, [...terms, ...newFingerprints])
      continue
    }
    const registration = await findRegistration(tx, owner, holder.recordId)
    if (registration) {
      // Adds the fingerprints of a newer epoch, but never those of a receivable with another buyer or amount.
      if (await isReceivableOf(tx, registration.id, terms)) await addFingerprints(tx, registration, newFingerprints)
      return { registration, isNew: false }
    }
  }
  throw new UnavailableError('concurrent registration of this receivable; retry later')
}

async function lapse(
  tx: Knex.Transaction,
  recordId: string,
  fingerprints: readonly Fingerprint[],
  deps: OperationDeps,
): Promise<void> {
  const registration = await lockRegistration(tx, recordId)
  if (!registration) return void (await dropRegistered(tx, recordId, fingerprints))
  const isOver = registration.expiresAt.getTime() <= toMillis(deps.now()) + CLOCK_SLACK_MS
  if (isOver && (registration.state === 'REGISTERED' || registration.state === 'FINANCED')) {
    await lapseRegistration(tx, registration, deps)
  }
}

async function store(
  tx: Knex.Transaction,
  { organisationId, env }: Owner,
  id: string,
  { fields, dueDate, dealId, lenderRef }: RegistrationRequest,
  expiresAt: Date,
  deps: RegisteringDeps,
): Promise<Registration> {
  const { writes } = deps
  const timestamp = instant(deps.now())
  const mode = isBlind(fields) ? ('BLIND' as const) : ('FIELDS' as const)
  const { sealed, commitments } = commit(committedOf(fields), randomBytes)
  const facts = { registrationId: id, mode, commitments }
  const record = canonicalize(await anchorRecord(writes, env, EVENT_TYPE, timestamp, facts))
  const salts = Object.fromEntries(sealed.map(({ name, salt }) => [name, salt]))
  const receivable: SealedReceivable = isBlind(fields)
    ? { fields: null, rf1: newestRf1(fields.fingerprints), lenderRef, salts }
    : { fields, lenderRef, salts }
  const registration = {
    id,
    organisationId,
    env,
    state: 'REGISTERED' as const,
    mode,
    dealId,
    sealedReceivable: deps.secrets.seal('financing', JSON.stringify(receivable)),
    dueDate,
    financedOn: null,
    expiresAt,
    firstSeenAt: new Date(timestamp),
    createdAt: new Date(timestamp),
    record,
  }
  await insertRegistration(writes, registration)
  await recordUsage(writes, { organisationId, env, family: 'first-financing', unitKey: `registration/${id}` })
  const event = {
    env,
    organisationId,
    type: EVENT_TYPE,
    dealId: dealId ?? id,
    fields: ['registrationId', 'state', 'expiresAt'],
    occurredAt: timestamp,
  }
  await recordEvent(tx, deps.enqueue, event, writes)
  return { ...registration, renewals: 0, contested: false }
}

function committedOf(input: ReceivableInput): Record<string, string | number> {
  return isBlind(input) ? { rf1: newestRf1(input.fingerprints) } : definedOf(input)
}

/** Omits an absent member: a commitment needs a value. */
function definedOf(fields: ReceivableFields): Record<string, string | number> {
  const { financialYear, ...required } = fields
  return financialYear === undefined ? required : { ...required, financialYear }
}

function newestRf1(fingerprints: RequestFingerprints): string {
  return fingerprints.toSorted((a, b) => b.epoch - a.epoch)[0]?.rf1 ?? ''
}

/** Notifies both organisations, and reveals neither to the other. */
async function refuse(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
  { dealId, fields }: RegistrationRequest,
  holder: Holder | undefined,
  deps: OperationDeps,
): Promise<Registered> {
  await notifyConflict(tx, owner, dealId ?? id, holder, deps)
  const message = 'another organisation holds this receivable'
  const path = isBlind(fields) ? 'fingerprints' : 'documentNumber'
  return { refusal: new ConflictError(message, [{ path, code: 'EXACT', message }]) }
}

/** Notifies the caller and the holder. */
export async function notifyConflict(
  tx: Knex.Transaction,
  owner: Owner,
  dealId: string,
  holder: Pick<Holder, 'organisationId' | 'dealId' | 'recordId'> | undefined,
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<void> {
  const event = {
    env: owner.env,
    type: 'first_financing.conflict',
    fields: ['documentNumber'],
    occurredAt: instant(deps.now()),
  }
  await recordEvent(tx, deps.enqueue, { ...event, organisationId: owner.organisationId, dealId })
  if (!holder) return
  const theirs = { ...event, organisationId: holder.organisationId, dealId: holder.dealId ?? holder.recordId }
  await recordEvent(tx, deps.enqueue, theirs)
}
