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
  summary: 'Record the acceptance of a receivable by its buyer',
  description:
    'With `receivable`, the invoice-action registry is queried: the tier is REGISTRY_VERIFIED if it agrees; a contradiction is stored with the record. Records are ordered by `at`, then by arrival. If an action cannot follow the previous record or precede the next one, the answer is 409.',
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
  summary: 'Get an anchored record',
  params: { acceptanceId: idParam('acceptanceId of the record') },
  responses: pollingResponses(AcceptanceSchema),
  handle: ({ caller, params: { acceptanceId }, deps }) => readAcceptance(deps, caller, acceptanceId),
})

const listRoute = read({
  tags,
  access: withScope('acceptance:read'),
  path: ACCEPTANCE_RECORDS,
  operationId: 'listAcceptances',
  summary: 'List acceptance records, newest first',
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
  summary: 'Record a credit note, payment or dispute of a receivable',
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
  summary: 'Request the acceptance of a document from a buyer, by mail',
  description:
    'The link is valid for seven days and shows number, date and amount. The buyer answers with a code that is mailed on request; the answer becomes a record with tier ISSUER_CONFIRMED. The sandbox sends no mail: the answer contains the link, and its page the code.',
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
  summary: 'Get the dilution of the invoices of a supplier to a buyer',
  description:
    'Calculated from the returns of the supplier and the records of the organisation, once per pair and Indian day. Ratios are null with fewer than nine known months.',
  params: {},
  query: DilutionQuery,
  responses: pollingResponses(AntiDilutionSchema),
  handle: ({ query, ...context }) => readByJob(context, (job) => runDilution(job, query)),
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
