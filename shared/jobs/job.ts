import { z } from 'zod'
import type { ApiEnv } from '../environment.ts'
import { ConflictError, DomainError, type FieldError, NotFoundError, ValidationError } from '../errors.ts'

export interface Owner {
  organisationId: number
  env: ApiEnv
}

export type JobKind =
  | 'acceptance.record'
  | 'dilution.answer'
  | 'financing.absence'
  | 'financing.acceptance'
  | 'financing.check'
  | 'financing.dispute'
  | 'financing.evaluation'
  | 'financing.key'
  | 'financing.registration'
  | 'identity.verification'
  | 'kyb.lei'
  | 'kyb.verification'
  | 'pool.cut'
  | 'pool.eligibility'
  | 'pool.file'
  | 'pool.members'
  | 'pool.replines'
  | 'pool.root'
  | 'pool.strata'
  | 'trade.pack'
  | 'trade.verification'

export interface EvidenceJob {
  id: string
  organisationId: number
  organisationUuid: string
  env: 'SANDBOX' | 'PRODUCTION'
  kind: JobKind
  idempotencyKey: string | null
  sealedRequest: string | null
  state: 'QUEUED' | 'DONE' | 'REFUSED'
}

export type JobOutcome =
  | { state: 'QUEUED' }
  | { state: 'DONE'; status: number; body: string }
  | { state: 'REFUSED'; refusal: DomainError }

export function refusalBody(error: DomainError): string {
  return JSON.stringify({
    code: error.code,
    message: error.message,
    errors: error instanceof ConflictError || error instanceof ValidationError ? error.errors : [],
  })
}

export function refusalOf(body: string): DomainError {
  const { code, message, errors } = JSON.parse(body) as { code: string; message: string; errors: FieldError[] }
  if (code === 'INTERNAL') return new JobFailedError()
  if (code === 'VALIDATION_ERROR') return new ValidationError(message, errors)
  return code === 'NOT_FOUND' ? new NotFoundError(message) : new ConflictError(message, errors)
}

export class JobFailedError extends DomainError {
  readonly code = 'INTERNAL'
  constructor() {
    super('the job failed because of an internal error; a new request may succeed')
  }
}

export const DEFAULT_WAIT_MS = 10_000

export const PendingSchema = z
  .object({ id: z.uuid(), status: z.literal('QUEUED'), links: z.object({ self: z.string() }) })
  .meta({ id: 'PendingEvidence' })
