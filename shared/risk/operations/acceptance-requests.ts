import type { Knex } from 'knex'
import type { z } from 'zod'
import { acceptanceRequested, dilutionRequested } from '../../contracts/worker-messages.ts'
import { NotConfiguredError, NotFoundError, validationError } from '../../errors.ts'
import type { Owner } from '../../jobs/job.ts'
import { type BeforeJob, type JobContext, readOutcome, runJob, runSharedJob } from '../../jobs/operations/jobs.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Answer } from '../../tenancy/idempotency/answer.ts'
import type { StoredAnswer } from '../../tenancy/idempotency/store.ts'
import { toMillis } from '../../time.ts'
import type { AcceptanceBody } from '../acceptance/acceptance.ts'
import { listBuyerRequests } from '../acceptance/buyer-request-store.ts'
import { dilutionRequest } from '../acceptance/dilution.ts'
import type { DilutionQuery } from '../acceptance/dilution-query.ts'
import { findTimeline } from '../acceptance/store.ts'
import { summaryOf } from '../acceptance/summary.ts'
import type { TimelineSchema } from '../acceptance/timeline.ts'
import { indianDay } from '../packs/money.ts'

export const ACCEPTANCE_RECORDS = '/v1/acceptance/records'

/** The caller's clock may be ahead. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000

export function refuseFuture(at: string, nowMs: number): void {
  if (Date.parse(at) <= nowMs + MAX_CLOCK_SKEW_MS) return
  throw validationError([{ path: 'at', code: 'TOO_LATE', message: 'at must not be in the future' }])
}

/** @throws ValidationError if `at` lies in the future */
export async function runAcceptanceRecord(
  context: JobContext,
  request: z.output<typeof AcceptanceBody>,
  before?: BeforeJob,
): Promise<StoredAnswer> {
  refuseFuture(request.at, toMillis(context.deps.now()))
  const kind = 'acceptance.record'
  return await runJob(context, { kind, message: acceptanceRequested, folder: ACCEPTANCE_RECORDS, request, before })
}

/** 202 while its job is not finished. @throws NotFoundError */
export async function readAcceptance(deps: { db: Knex }, owner: Owner, id: string): Promise<Answer> {
  return await readOutcome(deps, owner, { kind: 'acceptance.record', folder: ACCEPTANCE_RECORDS, id, what: 'record' })
}

/** A live request needs mail. @throws NotConfiguredError */
export function refuseWithoutMail({ env }: Owner, { config }: { config: Pick<Config, 'smtpUrl'> }): void {
  if (env === 'SANDBOX' || config.smtpUrl !== undefined) return
  throw new NotConfiguredError('this installation cannot send mail: SMTP_URL is not set')
}

export const DILUTION_PATH = '/v1/risk-signals/anti-dilution'

/** Runs once an Indian day. */
export async function runDilution(
  context: Omit<JobContext, 'once'>,
  query: z.output<typeof DilutionQuery>,
  before?: BeforeJob,
): Promise<StoredAnswer> {
  const { supplierGstin, buyerGstin } = query
  const day = indianDay(toMillis(context.deps.now()))
  return await runSharedJob(context, {
    kind: 'dilution.answer',
    message: dilutionRequested,
    self: `${DILUTION_PATH}?${new URLSearchParams({ supplierGstin, buyerGstin })}`,
    request: query,
    jobKey: dilutionRequest(query, day),
    before,
  })
}

export async function readTimeline(
  { db }: { db: Knex },
  owner: Owner,
  receivableRef: string,
): Promise<z.output<typeof TimelineSchema>> {
  const timeline = await findTimeline(db, owner, receivableRef)
  const requests = await listBuyerRequests(db, owner, receivableRef)
  if (!timeline) throw new NotFoundError('there are no records of this receivable')
  // Stored as we anchored them.
  const objects = (entries: readonly { body: string }[]) => entries.map(({ body }) => JSON.parse(body))
  return {
    receivableRef,
    records: objects(timeline.records),
    adjustments: objects(timeline.adjustments),
    requests,
    summary: summaryOf(timeline),
  }
}
