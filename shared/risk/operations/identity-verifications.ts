import type { Knex } from 'knex'
import type { z } from 'zod'
import { identityRequested } from '../../contracts/worker-messages.ts'
import type { ApiEnv } from '../../environment.ts'
import { ConflictError, NotFoundError, RateLimitedError } from '../../errors.ts'
import type { FieldCode } from '../../field-codes.ts'
import type { Owner } from '../../jobs/job.ts'
import { type BeforeJob, type JobContext, runJob } from '../../jobs/operations/jobs.ts'
import type { Outbox } from '../../platform/broker/outbox.ts'
import type { Budgets } from '../../tenancy/agents/agent-key.ts'
import type { StoredAnswer } from '../../tenancy/idempotency/store.ts'
import type { Family } from '../../tenancy/oauth/families.ts'
import { microsOfSeconds, toIsoMillis, toMillis } from '../../time.ts'
import { isUuid } from '../../uuid.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { assuranceOf, assuranceView, FACTOR_DAYS } from '../identity/assurance.ts'
import { findConsent } from '../identity/consent-store.ts'
import type { IdentityVerificationBody } from '../identity/identity-requests.ts'
import type { Presentation } from '../identity/presentation.ts'
import { findPresentation, findSealedStatus } from '../identity/presentation-store.ts'
import type { Subject } from '../identity/subject.ts'
import { factorsOf, type Verification, verificationView } from '../identity/verification.ts'
import { hasVerified, insertVerification, listVerifications } from '../identity/verification-store.ts'
import { noteExhausted, reserveUnit } from '../metering/budget-store.ts'
import { recordUsage } from '../metering/store.ts'
import type { OperationDeps } from './deps.ts'
import { moveSubject, refreshAssurance, unsealSubject } from './subjects.ts'

const DAY_MS = 86_400_000

export interface Found {
  key: string
  tier: string
  missingReason: string | null
  isHigh: boolean
  rawSha256: string | null
  presentationId: string | null
  consentId: string | null
  /** null without one */
  expiresAt: Date | null
  /** the value to seal; null if none is stored */
  value: string | null
  sealedStatus: string | null
}

/** An unverified subject is now pending. @throws NotFoundError; ConflictError for an identity that was revoked */
async function beginVerification(
  tx: Knex.Transaction,
  owner: Owner,
  subjectId: string,
  deps: OperationDeps,
): Promise<void> {
  const subject = await unsealSubject(tx, owner, subjectId)
  if (subject.state === 'REVOKED') throw revoked()
  if (subject.state === 'UNVERIFIED') {
    await moveSubject(tx, subject, 'PENDING', { by: 'VERIFICATION', reasonCode: 'CHECKS_STARTED' }, deps)
  }
}

function revoked(): ConflictError {
  const message = 'the identity is revoked'
  return new ConflictError(message, [{ path: 'subjectId', code: 'REVOKED', message }])
}

/** @throws NotFoundError; ConflictError when it cannot count */
export async function findingOfPresentation(
  db: Knex,
  owner: Owner,
  subjectId: string,
  presentationId: string,
): Promise<Found> {
  const presentation = await findPresentation(db, owner, presentationId)
  if (!presentation) throw new NotFoundError('there is no such presentation')
  const refuse = (code: FieldCode, message: string) =>
    new ConflictError(message, [{ path: 'presentationId', code, message }])
  if (presentation.state !== 'VERIFIED') throw refuse(presentation.state, `the presentation is ${presentation.state}`)
  if (presentation.subjectId !== null && presentation.subjectId !== subjectId) {
    throw refuse('OTHER_SUBJECT', 'the presentation belongs to another subject')
  }
  if (await hasVerified(db, presentationId)) throw refuse('COUNTED', 'the presentation has already verified a subject')
  return {
    key: 'presentation',
    tier: presentation.tier ?? 'DOCUMENT_SIGNED',
    missingReason: null,
    isHigh: presentation.assurance === 'HIGH',
    rawSha256: hashOf(presentation),
    presentationId,
    consentId: null,
    expiresAt: presentation.credentialExpiresAt,
    value: null,
    sealedStatus: (await findSealedStatus(db, presentationId)) ?? null,
  }
}

function hashOf({ record }: Presentation): string | null {
  const anchored = record === null ? null : (JSON.parse(record) as { anchor: { payloadSha256: string } })
  return anchored?.anchor.payloadSha256 ?? null
}

/** Stores a row, the assurance, the state of a PENDING subject and one unit. */
export async function completeIdentityVerification(
  tx: Knex.Transaction,
  owner: Owner,
  { id, subjectId }: { id: string; subjectId: string },
  read: Found,
  deps: OperationDeps,
): Promise<object> {
  const before = await unsealSubject(tx, owner, subjectId)
  if (before.state === 'REVOKED') throw revoked()
  const found = (await isWithdrawn(tx, owner, read.consentId)) ? withdrawn(read) : read
  const nowMs = toMillis(deps.now())
  const longest = nowMs + FACTOR_DAYS * DAY_MS
  const { value, ...facts } = found
  const verification: Verification = {
    ...facts,
    id,
    observedAt: new Date(nowMs),
    expiresAt: new Date(Math.min(longest, found.expiresAt?.getTime() ?? longest)),
    revokedAt: null,
  }
  const sealedValues = value === null ? null : deps.secrets.seal('identity', value)
  await insertVerification(tx, subjectId, { ...verification, sealedValues, sealedStatus: found.sealedStatus })
  const subject = await refreshAssurance(tx, before, deps)
  await settleState(tx, subject, found.tier !== 'MISSING', deps)
  await recordUsage(tx, { ...owner, family: 'identity', unitKey: `verification/${id}` })
  const factors = factorsOf(await listVerifications(tx, subjectId))
  return { ...verificationView(verification), subjectId, assurance: assuranceView(assuranceOf(factors, nowMs)) }
}

/** The consent may be withdrawn during the registry query; the withdrawal waits for the same lock. */
async function isWithdrawn(tx: Knex.Transaction, owner: Owner, consentId: string | null): Promise<boolean> {
  return consentId !== null && (await findConsent(tx, owner, consentId))?.withdrawnAt !== null
}

function withdrawn(read: Found): Found {
  return { ...read, tier: 'MISSING', missingReason: 'CONSENT_REVOKED', rawSha256: null, value: null }
}

async function settleState(tx: Knex.Transaction, subject: Subject, isVerified: boolean, deps: OperationDeps) {
  if (subject.state !== 'PENDING') return
  const [to, reasonCode] = isVerified ? (['VERIFIED', 'VERIFIED'] as const) : (['UNVERIFIED', 'CHECKS_FAILED'] as const)
  await moveSubject(tx, subject, to, { by: 'VERIFICATION', reasonCode }, deps)
}

export interface Spender {
  agentKeyId: number | null
  keyId: string
  organisationId: number
  env: ApiEnv
  budgets: Budgets
}

/** The daily or monthly budget of a key for this family is used up. */
export class BudgetExhaustedError extends RateLimitedError {
  readonly family: Family
  constructor(family: Family, retryAfterSeconds: number) {
    const message = `the budget of this key for ${family} is used up`
    super(message, retryAfterSeconds, [{ path: family, code: 'BUDGET', message }])
    this.family = family
  }
}

const DAY_SECONDS = 86_400

/** See docs/spec/evidence-families.md#agent-keys. `now` is POSIX seconds. @throws BudgetExhaustedError */
export async function spendBudget(tx: Knex, spender: Spender, family: Family, now: number): Promise<void> {
  const { agentKeyId, budgets } = spender
  const budget = budgets[family]
  if (agentKeyId === null || !budget) return
  if (await reserveUnit(tx, { agentKeyId, family }, budget)) return
  throw new BudgetExhaustedError(family, Math.ceil(DAY_SECONDS - (now % DAY_SECONDS)))
}

/** Emits the event once per key, family and UTC day, after the refused call was rolled back. */
export async function announceExhausted(
  { outbox }: { outbox: Pick<Outbox, 'run'> },
  { agentKeyId, keyId, organisationId, env }: Spender,
  family: Family,
  now: number,
): Promise<void> {
  if (agentKeyId === null) return
  await outbox.run(async (tx, enqueue) => {
    if (!(await noteExhausted(tx, { agentKeyId, family }))) return
    await recordEvent(tx, enqueue, {
      env,
      organisationId,
      type: 'agents.budget_exhausted',
      dealId: keyId,
      fields: ['family', 'budget'],
      occurredAt: toIsoMillis(microsOfSeconds(now)),
    })
  })
}

export const IDENTITY_VERIFICATIONS = '/v1/identity/verifications'

/** @throws NotFoundError; ConflictError for a revoked subject */
export async function runSubjectVerification(
  context: JobContext,
  subjectId: string,
  body: z.output<typeof IdentityVerificationBody>,
  before?: BeforeJob,
): Promise<StoredAnswer> {
  const { organisationId, env } = context.caller
  const { now, secrets } = context.deps
  return await runJob(context, {
    kind: 'identity.verification',
    message: identityRequested,
    folder: IDENTITY_VERIFICATIONS,
    request: { ...body, subjectId },
    async before(tx, enqueue) {
      if (!isUuid(subjectId)) throw new NotFoundError('subject not found')
      await beginVerification(tx, { organisationId, env }, subjectId, { enqueue, now, secrets })
      await before?.(tx, enqueue)
    },
  })
}
