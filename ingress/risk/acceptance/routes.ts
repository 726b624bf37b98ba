import { hash } from 'node:crypto'
import { z } from 'zod'
import { acceptanceRequested, dilutionRequested } from '#shared/contracts/evidence-requested.ts'
import { NotFoundError } from '#shared/errors.ts'
import {
  ACCEPTANCE_ACTIONS,
  AcceptanceBody,
  AcceptanceSchema,
  AdjustmentBody,
  AdjustmentSchema,
} from '#shared/risk/acceptance/acceptance.ts'
import { AntiDilutionSchema } from '#shared/risk/acceptance/anti-dilution.ts'
import { findTimeline } from '#shared/risk/acceptance/store.ts'
import { summaryOf } from '#shared/risk/acceptance/summary.ts'
import { gstin } from '#shared/risk/evidence/values.ts'
import type { Owner } from '#shared/risk/jobs/job.ts'
import { recordAdjustment } from '#shared/risk/operations/record-acceptance.ts'
import { indianDay } from '#shared/risk/packs/calendar.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { toMillis } from '#shared/time.ts'
import type { IngressDeps } from '../../deps.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { Answer } from '../answer.ts'
import {
  type AskContext,
  askOnce,
  askWorker,
  pollingResponses,
  readOutcome,
  waitingResponses,
} from '../evidence-job.ts'
import { idParam } from '../id-param.ts'
import { validationError } from '../json-body.ts'
import { read, write } from '../risk-route.ts'

const tags = ['Acceptance'] as const
const FOLDER = '/v1/acceptance/records'
/** The caller's clock may be this far ahead. */
const AHEAD_MS = 5 * 60_000

/** @throws ValidationError for what has not happened yet */
function refuseFuture(at: string, nowMs: number): void {
  if (Date.parse(at) <= nowMs + AHEAD_MS) return
  throw validationError([{ path: 'at', code: 'IN_FUTURE', message: 'at lies in the future' }])
}

const recordRoute = write({
  tags,
  access: withScope('acceptance:write'),
  path: FOLDER,
  operationId: 'recordAcceptance',
  summary: 'Record what a buyer said of a receivable',
  description:
    'With `receivable` the invoice-action registry is asked: REGISTRY_VERIFIED when it says the same; what contradicts is kept beside. What does not follow the record before is 409.',
  params: {},
  body: AcceptanceBody,
  responses: waitingResponses({ 201: AcceptanceSchema }),
  async perform(context) {
    refuseFuture(context.body.at, toMillis(context.deps.now()))
    return await askWorker(context, {
      kind: 'acceptance.record',
      message: acceptanceRequested,
      folder: FOLDER,
      request: context.body,
    })
  },
})

const readRecord = read({
  tags,
  access: withScope('acceptance:read'),
  path: `${FOLDER}/{acceptanceId}`,
  operationId: 'getAcceptance',
  summary: 'A record, as it was anchored',
  params: { acceptanceId: idParam('acceptanceId of the record') },
  responses: pollingResponses(AcceptanceSchema),
  handle: async ({ caller, params: { acceptanceId }, deps }) => {
    const answer = await readAcceptance(deps, caller, acceptanceId)
    return new Answer(answer.status, answer.body, answer.headers)
  },
})

/** A record of the owner's as it was anchored, or that a worker is at it. @throws NotFoundError */
export async function readAcceptance(deps: IngressDeps, owner: Owner, id: string): Promise<StoredAnswer> {
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

const TimelineSchema = z
  .object({
    receivableRef: z.string(),
    records: z.array(AcceptanceSchema),
    adjustments: z.array(AdjustmentSchema),
    summary: z.object({
      action: z.enum(ACCEPTANCE_ACTIONS).nullable(),
      tier: z.string().nullable(),
      registryAction: z.enum(ACCEPTANCE_ACTIONS).nullable(),
      conflict: z.boolean().meta({ description: 'a registry said otherwise than a record' }),
      amountInr: z.number().nullable(),
      dilutedInr: z.number().nullable(),
      dilutionBps: z.int().nullable(),
      outstandingInr: z.number().nullable(),
    }),
  })
  .meta({ id: 'AcceptanceTimeline' })

const timelineRoute = read({
  tags,
  access: withScope('acceptance:read'),
  path: '/v1/acceptance/{receivableRef}',
  operationId: 'getAcceptanceTimeline',
  summary: 'What is recorded of a receivable, and what it comes to',
  params: {
    receivableRef: { pattern: '[^/]{1,300}', description: 'the organisation’s own reference', example: 'RCV-7' },
  },
  returns: TimelineSchema,
  async handle({ caller, params: { receivableRef }, deps }) {
    const timeline = await findTimeline(deps.db, caller, receivableRef)
    if (!timeline) throw new NotFoundError('nothing is recorded of this receivable')
    // Stored as we anchored them.
    const objects = (entries: readonly { body: string }[]) => entries.map(({ body }) => JSON.parse(body))
    return {
      receivableRef,
      records: objects(timeline.records),
      adjustments: objects(timeline.adjustments),
      summary: summaryOf(timeline),
    }
  },
})

const DILUTION_PATH = '/v1/risk-signals/anti-dilution'

export const DilutionQuery = z.strictObject({
  supplierGstin: gstin,
  buyerGstin: gstin,
  gstConsent: z
    .string()
    .regex(/^[!-~]{1,200}$/)
    .optional()
    .meta({ description: 'handle of the supplier’s consent' }),
})

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
  async handle({ caller, query, request, deps }) {
    const answer = await askDilution({ caller, deps, request, setHeader: () => {} }, query)
    return new Answer(answer.status, answer.body, answer.headers)
  },
})

/** Has the dilution of a pair measured, once an Indian day. */
export async function askDilution(
  context: Omit<AskContext, 'once'>,
  query: z.output<typeof DilutionQuery>,
): Promise<StoredAnswer> {
  const { supplierGstin, buyerGstin } = query
  const day = indianDay(toMillis(context.deps.now()))
  return await askOnce(context, {
    kind: 'dilution.answer',
    message: dilutionRequested,
    self: `${DILUTION_PATH}?${new URLSearchParams({ supplierGstin, buyerGstin })}`,
    request: query,
    question: hash('sha256', `${supplierGstin}>${buyerGstin}/${day}`, 'buffer'),
  })
}

export const acceptanceRoutes: readonly Route[] = [
  recordRoute,
  readRecord,
  adjustmentRoute,
  timelineRoute,
  dilutionRoute,
]
