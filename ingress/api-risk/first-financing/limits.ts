import type { Knex } from 'knex'
import { RateLimitedError } from '#shared/errors.ts'
import type { Owner } from '#shared/jobs/job.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { requireLiveEpochs } from '#shared/risk/first-financing/epoch-store.ts'
import { countOpen } from '#shared/risk/first-financing/registration-store.ts'
import { isBlind, type ReceivableInput } from '#shared/risk/first-financing/request-fingerprints.ts'
import { takeOfDay } from '#shared/risk/metering/counter-store.ts'
import { lockOrganisation } from '#shared/tenancy/accounts/store.ts'

type Limits = Pick<Config, 'financingElementsPerDay' | 'financingChecksPerDay'>

/** Elements that a receivable by its fields counts; a window asks eight more. */
const ELEMENTS = 4
const WINDOW_ELEMENTS = 12
/** Open registrations fall away by the day: who has too many asks again in an hour. */
const RETRY_OPEN_SECONDS = 3600

/**
 * Counts what a receivable takes of the day: four elements by its fields, none by fingerprints, since those were counted
 * when they were evaluated. Fingerprints must be those of the live epochs.
 * @throws RateLimitedError, ValidationError
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

/**
 * Counts an evaluation, which is the only way to guess, against the day of an organisation and environment.
 * @throws RateLimitedError until midnight in India
 */
export async function countEvaluation(
  tx: Knex.Transaction,
  owner: Owner,
  { elements, isCheck }: { elements: number; isCheck: boolean },
  { config }: { config: Limits },
): Promise<void> {
  const seconds = await takeOfDay(tx, owner, [
    { name: 'financing.elements', count: elements, limit: config.financingElementsPerDay },
    { name: 'financing.checks', count: isCheck ? 1 : 0, limit: config.financingChecksPerDay },
  ])
  if (seconds !== null) {
    throw new RateLimitedError('the organisation has evaluated as much as it may today', seconds)
  }
}

/**
 * Counts registrations that a worker has not stored yet as open.
 * @throws RateLimitedError when an organisation has as many open registrations as it may
 */
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
