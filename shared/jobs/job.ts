import { z } from 'zod'
import type { ApiEnv } from '../environment.ts'
import { ConflictError, DomainError, type FieldError, NotFoundError, ValidationError } from '../errors.ts'

/** Whose things these are. */
export interface Owner {
  organisationId: number
  env: ApiEnv
}

/** What a worker does for a request under `/v1`. */
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

/** A job as its worker takes it. */
export interface EvidenceJob {
  id: string
  organisationId: number
  organisationUuid: string
  env: 'SANDBOX' | 'PRODUCTION'
  kind: JobKind
  idempotencyKey: string | null
  /** null once it is done */
  sealedRequest: string | null
  state: 'QUEUED' | 'DONE' | 'REFUSED'
}

/** How a job ended: the answer, or why it was refused. */
export type JobOutcome =
  | { state: 'QUEUED' }
  | { state: 'DONE'; status: number; body: string }
  | { state: 'REFUSED'; refusal: DomainError }

/** Why a job was refused, as it is stored. */
export function refusalBody(error: DomainError): string {
  return JSON.stringify({
    code: error.code,
    message: error.message,
    errors: error instanceof ConflictError || error instanceof ValidationError ? error.errors : [],
  })
}

/**
 * The error that a stored refusal was. A worker refuses for the state of things, because they are not there, or for
 * what only arithmetic can tell of the input.
 */
export function refusalOf(body: string): DomainError {
  // Written by `refusalBody`.
  const { code, message, errors } = JSON.parse(body) as { code: string; message: string; errors: FieldError[] }
  if (code === 'INTERNAL') return new JobFailedError()
  if (code === 'VALIDATION_ERROR') return new ValidationError(message, errors)
  return code === 'NOT_FOUND' ? new NotFoundError(message) : new ConflictError(message, errors)
}

/** The job could not be done, for a reason of ours. */
export class JobFailedError extends DomainError {
  readonly code = 'INTERNAL'
  constructor() {
    super('the job failed because of an internal error; a new request may succeed')
  }
}

/** How long a caller waits by default. */
export const DEFAULT_WAIT_MS = 10_000

/** The answer while a job is not finished. */
export const PendingSchema = z
  .object({ id: z.uuid(), status: z.literal('QUEUED'), links: z.object({ self: z.string() }) })
  .meta({ id: 'PendingEvidence' })
