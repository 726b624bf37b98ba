import type { Knex } from 'knex'
import type { z } from 'zod'
import { kybRequested } from '../../contracts/worker-messages.ts'
import { NotFoundError, ValidationError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { type BeforeJob, type JobContext, runJob } from '../../jobs/operations/jobs.ts'
import type { StoredAnswer } from '../../tenancy/idempotency/store.ts'
import { type LeiResolveBody, VerificationBody } from '../businesses/requests.ts'
import { type Entity, findEntity, listIdentifiers } from '../businesses/store.ts'
import { identifierProblem, normaliseUpper } from '../identifiers/identifier.ts'
import { veiError } from '../identifiers/vei.ts'

/** @throws ValidationError for a wrong check character; NotFoundError */
export async function requireEntity(db: Knex, owner: Owner, vei: string): Promise<Entity> {
  const fault = veiError(vei)
  if (fault !== null) {
    const message = `vei ${identifierProblem(fault)}`
    throw new ValidationError(message, [{ path: 'vei', code: fault, message }])
  }
  const entity = await findEntity(db, owner, normaliseUpper(vei))
  if (!entity) throw new NotFoundError('entity not found')
  return entity
}

export const BUSINESS_VERIFICATIONS = '/v1/kyb/verifications'
export const LEI_RESOLUTIONS = '/v1/kyb/lei/resolutions'

export async function runBusinessVerification(
  context: JobContext,
  request: z.output<typeof VerificationBody>,
  before?: BeforeJob,
): Promise<StoredAnswer> {
  const folder = BUSINESS_VERIFICATIONS
  return await runJob(context, { kind: 'kyb.verification', message: kybRequested, folder, request, before })
}

/** Uses the stored identifiers. @throws ValidationError, NotFoundError */
export async function runEntityVerification(
  context: JobContext,
  vei: string,
  before?: BeforeJob,
): Promise<StoredAnswer> {
  const { deps, caller } = context
  const entity = await requireEntity(deps.db, caller, vei)
  const held = await listIdentifiers(deps.db, entity.id)
  const request = VerificationBody.parse(Object.fromEntries(held.map(({ type, value }) => [type, value])))
  return await runBusinessVerification(context, request, before)
}

export async function runLeiResolution(
  context: JobContext,
  request: z.output<typeof LeiResolveBody>,
  before?: BeforeJob,
): Promise<StoredAnswer> {
  return await runJob(context, { kind: 'kyb.lei', message: kybRequested, folder: LEI_RESOLUTIONS, request, before })
}
