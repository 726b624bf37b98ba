import { z } from 'zod'
import {
  AcceptanceBody,
  AcceptanceSchema,
  AdjustmentBody,
  AdjustmentSchema,
  BuyerRequestBody,
} from '#shared/risk/acceptance/acceptance.ts'
import { AntiDilutionSchema } from '#shared/risk/acceptance/anti-dilution.ts'
import { DilutionQuery } from '#shared/risk/acceptance/dilution-query.ts'
import { listRecords } from '#shared/risk/acceptance/store.ts'
import { RequestSchema } from '#shared/risk/acceptance/timeline.ts'
import {
  ACCEPTANCE_RECORDS,
  DILUTION_PATH,
  readAcceptance,
  refuseFuture,
  refuseWithoutMail,
  runAcceptanceRecord,
  runDilution,
} from '#shared/risk/operations/acceptance-requests.ts'
import { requestBuyerAcceptance } from '#shared/risk/operations/acceptances.ts'
import { recordAdjustment } from '#shared/risk/operations/record-acceptance.ts'
import { toMillis } from '#shared/time.ts'
import { DEFAULT_PAGE, PageQuery, paged, sealCursor, unsealCursor } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, readByJob, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { timelineRoute } from './timeline.ts'

const tags = ['Acceptance'] as const

const recordRoute = write({
  tags,
  access: withScope('acceptance:write'),
  path: ACCEPTANCE_RECORDS,
  operationId: 'recordAcceptance',
  summary: 'Record what a buyer said of a receivable',
  description:
    'With `receivable` the invoice-action registry is queried: REGISTRY_VERIFIED when it agrees; a contradiction is kept beside. Records are ordered by `at`, not by arrival; records of one time by their arrival. An action that does not follow the one before it, or that the one after it does not follow, is 409.',
  params: {},
  body: AcceptanceBody,
  responses: waitingResponses({ 201: AcceptanceSchema }),
  perform: (context) => runAcceptanceRecord(context, context.body),
})

const readRecord = read({
  tags,
  access: withScope('acceptance:read'),
  path: `${ACCEPTANCE_RECORDS}/{acceptanceId}`,
  operationId: 'getAcceptance',
  summary: 'A record, as it was anchored',
  params: { acceptanceId: idParam('acceptanceId of the record') },
  responses: pollingResponses(AcceptanceSchema),
  handle: ({ caller, params: { acceptanceId }, deps }) => readAcceptance(deps, caller, acceptanceId),
})

const listRoute = read({
  tags,
  access: withScope('acceptance:read'),
  path: ACCEPTANCE_RECORDS,
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

export const acceptanceRoutes: readonly Route[] = [
  recordRoute,
  listRoute,
  readRecord,
  adjustmentRoute,
  requestRoute,
  timelineRoute,
  dilutionRoute,
]
