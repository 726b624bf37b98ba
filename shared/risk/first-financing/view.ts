import { z } from 'zod'
import { AnchoredObject, AnchorSchema, anchored } from '../evidence/values.ts'
import { DISPUTE_STATES, type Dispute } from './dispute.ts'
import type { Registration, SealedReceivable } from './receivable.ts'
import { FINANCING_STATES, stateAt } from './states.ts'

const commitments = z.array(z.object({ name: z.string(), commitment: z.string() }))

export const RegistrationSchema = z
  .object({
    registrationId: z.uuid(),
    state: z.enum(FINANCING_STATES),
    expiresAt: z.string(),
    mode: z.enum(['FIELDS', 'BLIND']),
    contested: z.boolean(),
    dealId: z.string().nullable(),
    dueDate: z.string().nullable(),
    financedOn: z.string().nullable(),
    createdAt: z.string(),
    record: z
      .looseObject({
        commitments: commitments.optional(),
        eventType: z.string(),
        timestamp: z.string(),
        anchor: AnchorSchema,
      })
      .meta({ description: 'the newest anchored object of the registration' }),
  })
  .meta({ id: 'FinancingRegistration' })

export function registrationView(registration: Registration, nowMs: number): z.output<typeof RegistrationSchema> {
  const { id, mode, contested, dealId, dueDate, financedOn } = registration
  return {
    registrationId: id,
    state: stateAt(registration, nowMs),
    expiresAt: registration.expiresAt.toISOString(),
    mode,
    contested,
    dealId,
    dueDate,
    financedOn,
    createdAt: registration.createdAt.toISOString(),
    record: JSON.parse(registration.record),
  }
}

/** Returns null without fields. */
export function decryptedReceivable(
  { sealedReceivable }: Registration,
  secrets: { open(purpose: 'financing', sealed: string): string },
): SealedReceivable | null {
  return sealedReceivable === null
    ? null
    : (JSON.parse(secrets.open('financing', sealedReceivable)) as SealedReceivable)
}

export const DisputeSchema = z
  .object({
    disputeId: z.uuid(),
    state: z.enum(DISPUTE_STATES),
    answerBy: z.string(),
    openedAt: z.string(),
    record: AnchoredObject,
  })
  .meta({ id: 'FinancingDispute' })

export function disputeView({ id, state, answerBy, openedAt, record }: Dispute): z.output<typeof DisputeSchema> {
  return {
    disputeId: id,
    state,
    answerBy: answerBy.toISOString(),
    openedAt: openedAt.toISOString(),
    record: JSON.parse(record),
  }
}

export const CheckSchema = z
  .object({
    checkId: z.uuid(),
    status: z.enum(['DUPLICATE_FINANCED', 'DUPLICATE_REGISTERED', 'POSSIBLE_MATCH', 'UNRESOLVED', 'CLEAN']),
    mode: z.enum(['FIELDS', 'BLIND']),
    asOf: z.string(),
    matches: z.array(
      z.object({
        class: z.enum(['EXACT', 'NEAR', 'ECONOMIC']),
        state: z.enum(['REGISTERED', 'FINANCED']),
        ownRegistration: z.boolean(),
        firstSeenMonth: z.string(),
        contested: z.boolean(),
      }),
    ),
    record: anchored({
      statementId: z.uuid(),
      result: z.string(),
      rf1Commitment: z.string(),
      snapshotId: z.uuid().nullable(),
    }).nullable(),
    opening: z
      .object({ rf1: z.string(), salt: z.string() })
      .optional()
      .meta({ description: 'opens `rf1Commitment`, the commitment of the value `rf1` under the name `rf1`' }),
  })
  .meta({ id: 'FinancingCheck' })
