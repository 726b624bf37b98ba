import { z } from 'zod'
import { acceptanceRequested, dilutionRequested } from '#shared/contracts/worker-messages.ts'
import { NotConfiguredError, validationError } from '#shared/errors.ts'
import type { Owner } from '#shared/jobs/job.ts'
import { type BeforeJob, type JobContext, readOutcome, runJob, runSharedJob } from '#shared/jobs/operations/jobs.ts'
import {
  AcceptanceBody,
  AcceptanceSchema,
  AdjustmentBody,
  AdjustmentSchema,
  BuyerRequestBody,
} from '#shared/risk/acceptance/acceptance.ts'
import { AntiDilutionSchema } from '#shared/risk/acceptance/anti-dilution.ts'
import { dilutionRequest } from '#shared/risk/acceptance/dilution.ts'
import { listRecords } from '#shared/risk/acceptance/store.ts'
import { gstin } from '#shared/risk/evidence/values.ts'
import { checkParties } from '#shared/risk/first-financing/receivable.ts'
import { requestBuyerAcceptance } from '#shared/risk/operations/acceptances.ts'
import { recordAdjustment } from '#shared/risk/operations/record-acceptance.ts'
import { indianDay } from '#shared/risk/packs/money.ts'
import type { Answer } from '#shared/tenancy/idempotency/answer.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { toMillis } from '#shared/time.ts'
import type { IngressDeps } from '../../deps.ts'
import { DEFAULT_PAGE, PageQuery, paged, sealCursor, unsealCursor } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, readByJob, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { RequestSchema, timelineRoute } from './timeline.ts'

const tags = ['Acceptance'] as const

const FOLDER = '/v1/acceptance/records'
/** The caller's clock may be this far ahead. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000

/** @throws ValidationError for what has not happened yet */
export function refuseFuture(at: string, nowMs: number): void {
  if (Date.parse(at) <= nowMs + MAX_CLOCK_SKEW_MS) return
  throw validationError([{ path: 'at', code: 'IN_FUTURE', message: 'at lies in the future' }])
}

const recordRoute = write({
  tags,
  access: withScope('acceptance:write'),
  path: FOLDER,
  operationId: 'recordAcceptance',
  summary: 'Record what a buyer said of a receivable',
  description:
    'With `receivable` the invoice-action registry is queried: REGISTRY_VERIFIED when it agrees; a contradiction is kept beside. Records are ordered by `at`, not by arrival; records of one time by their arrival. An action that does not follow the one before it, or that the one after it does not follow, is 409.',
  params: {},
  body: AcceptanceBody,
  responses: waitingResponses({ 201: AcceptanceSchema }),
  perform: (context) => runAcceptanceRecord(context, context.body),
})

/** Has a record made. @throws ValidationError for what has not happened yet */
export async function runAcceptanceRecord(
  context: JobContext,
  request: z.output<typeof AcceptanceBody>,
  before?: BeforeJob,
): Promise<StoredAnswer> {
  refuseFuture(request.at, toMillis(context.deps.now()))
  const kind = 'acceptance.record'
  return await runJob(context, { kind, message: acceptanceRequested, folder: FOLDER, request, before })
}

const readRecord = read({
  tags,
  access: withScope('acceptance:read'),
  path: `${FOLDER}/{acceptanceId}`,
  operationId: 'getAcceptance',
  summary: 'A record, as it was anchored',
  params: { acceptanceId: idParam('acceptanceId of the record') },
  responses: pollingResponses(AcceptanceSchema),
  handle: ({ caller, params: { acceptanceId }, deps }) => readAcceptance(deps, caller, acceptanceId),
})

const listRoute = read({
  tags,
  access: withScope('acceptance:read'),
  path: FOLDER,
  operationId: 'listAcceptances',
  summary: 'What is recorded of receivables, newest first',
  params: {},
  query: PageQuery,
  returns: z.object({ records: z.array(AcceptanceSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps: { db, secrets } }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const rows = await listRecords(db, caller, unsealCursor(query.cursor, secrets), limit + 1)
    const { page, nextCursor } = paged(rows, limit, ({ seq }) => sealCursor(seq, secrets))
    return { records: page.map(({ body }) => JSON.parse(body)), nextCursor }
  },
})

/** A record of the owner's as it was anchored, or that a worker is at it. @throws NotFoundError */
export async function readAcceptance(deps: IngressDeps, owner: Owner, id: string): Promise<Answer> {
  return await readOutcome(deps, owner, { kind: 'acceptance.record', folder: FOLDER, id, what: 'record' })
}

const adjustmentRoute = write({
  tags,
  access: withScope('acceptance:write'),
  path: '/v1/acceptance/adjustments',
  operationId: 'recordAdjustment',
  summary: 'Record a credit note, a payment or a dispute of a receivable',
  params: {},
  body: AdjustmentBody,
  returns: AdjustmentSchema,
  status: 201,
  async handle({ caller, body, tx, enqueue, deps }) {
    refuseFuture(body.at, toMillis(deps.now()))
    return await recordAdjustment(tx, caller, body, { enqueue, now: deps.now, secrets: deps.secrets })
  },
})

/** @throws NotConfiguredError where a live request could reach nobody */
export function refuseWithoutMail({ env }: Owner, { config }: IngressDeps): void {
  if (env === 'SANDBOX' || config.smtpUrl !== undefined) return
  throw new NotConfiguredError('this installation sends no mail')
}

const requestRoute = write({
  tags,
  access: withScope('acceptance:write'),
  path: '/v1/acceptance/requests',
  operationId: 'requestBuyerAcceptance',
  summary: 'Ask a buyer by mail whether it accepts a document',
  description:
    'The link works for seven days and shows number, date and amount; the answer takes a code that is mailed on request, and becomes a record with tier ISSUER_CONFIRMED. In the sandbox no mail is sent: the answer has the link, and its page the code.',
  params: {},
  body: BuyerRequestBody,
  returns: RequestSchema,
  status: 201,
  seal: true,
  async handle({ caller, body, tx, enqueue, deps }) {
    refuseWithoutMail(caller, deps)
    return await requestBuyerAcceptance(tx, caller, body, { enqueue, secrets: deps.secrets, config: deps.config })
  },
})

const DILUTION_PATH = '/v1/risk-signals/anti-dilution'

export const DilutionQuery = z
  .strictObject({
    supplierGstin: gstin,
    buyerGstin: gstin,
    gstConsent: z
      .string()
      .regex(/^[!-~]{1,200}$/)
      .optional()
      .meta({ description: 'handle of the supplier’s consent' }),
  })
  .superRefine(checkParties)

const dilutionRoute = read({
  tags: ['Risk signals'],
  access: withScope('risk-signals:read'),
  path: DILUTION_PATH,
  operationId: 'getAntiDilution',
  summary: 'How much of what a supplier invoiced to a buyer was taken back',
  description:
    'From the supplier’s return about the buyer and the organisation’s own records; measured once per pair and Indian day. Ratios are null below nine known months.',
  params: {},
  query: DilutionQuery,
  responses: pollingResponses(AntiDilutionSchema),
  handle: ({ query, ...context }) => readByJob(context, (asking) => runDilution(asking, query)),
})

/** Has the dilution of a pair measured, once an Indian day. */
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
    question: dilutionRequest(query, day),
    before,
  })
}

export const acceptanceRoutes: readonly Route[] = [
  recordRoute,
  listRoute,
  readRecord,
  adjustmentRoute,
  requestRoute,
  timelineRoute,
  dilutionRoute,
]
