import { z } from 'zod'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { anchored } from '#shared/risk/evidence/values.ts'
import { runTradeVerification, TRADE_VERIFICATIONS } from '#shared/risk/operations/trade-requests.ts'
import { EbrcBody, IecBody, ShippingBillBody } from '#shared/risk/trade/requests.ts'
import { listVerifications } from '#shared/risk/trade/store.ts'
import { PageQuery, readPage } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'

const tags = ['Trade provenance'] as const
const access = withScope('trade:write')

export const TradeCheckSchema = z
  .object({ key: z.string(), result: z.enum(['MATCH', 'MISMATCH', 'MISSING']), tier: z.string(), detail: z.string() })
  .meta({ id: 'TradeCheck' })

const VerificationSchema = anchored({
  verificationId: z.uuid(),
  subjectKind: z.enum(['EBRC', 'SHIPPING_BILL', 'IEC']),
  results: z.array(TradeCheckSchema),
}).meta({ id: 'TradeVerification' })

const ebrcRoute = write({
  tags,
  access,
  path: '/v1/trade/ebrc/verifications',
  operationId: 'verifyEbrc',
  summary: 'Verify a bank-realisation certificate',
  description:
    'The current answer of the registry; a certificate can be cancelled later. The exporter states the link to a shipping bill, so it is SELF_DECLARED. An amount in another currency is MISSING; nothing is converted.',
  params: {},
  body: EbrcBody,
  responses: waitingResponses({ 201: VerificationSchema }),
  perform: (context) => runTradeVerification(context, { subjectKind: 'EBRC', ...context.body }),
})

const shippingBillRoute = write({
  tags,
  access,
  path: '/v1/trade/shipping-bills/verifications',
  operationId: 'verifyShippingBill',
  summary: 'Verify a shipping bill',
  description: 'Queries the customs registry. Values that differ by at most one percent count as equal.',
  params: {},
  body: ShippingBillBody,
  responses: waitingResponses({ 201: VerificationSchema }),
  perform: (context) => runTradeVerification(context, { subjectKind: 'SHIPPING_BILL', ...context.body }),
})

const iecRoute = write({
  tags,
  access,
  path: '/v1/trade/iec/verifications',
  operationId: 'verifyIec',
  summary: 'Verify an importer-exporter code',
  params: {},
  body: IecBody,
  responses: waitingResponses({ 201: VerificationSchema }),
  perform: (context) => runTradeVerification(context, { subjectKind: 'IEC', ...context.body }),
})

const listRoute = read({
  tags,
  access: withScope('trade:read'),
  path: TRADE_VERIFICATIONS,
  operationId: 'listTradeVerifications',
  summary: 'List anchored verifications, newest first',
  params: {},
  query: PageQuery,
  returns: z.object({ verifications: z.array(VerificationSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps: { db, secrets } }) {
    const { page, nextCursor } = await readPage(query, secrets, (wanted) => listVerifications(db, caller, wanted))
    return { verifications: page.map(({ body }) => JSON.parse(body)), nextCursor }
  },
})

const readVerification = read({
  tags,
  access: withScope('trade:read'),
  path: `${TRADE_VERIFICATIONS}/{tradeVerificationId}`,
  operationId: 'getTradeVerification',
  summary: 'Get an anchored verification',
  params: { tradeVerificationId: idParam('verificationId of the verification') },
  responses: pollingResponses(VerificationSchema),
  handle: ({ caller, params: { tradeVerificationId: id }, deps }) =>
    readOutcome(deps, caller, { kind: 'trade.verification', folder: TRADE_VERIFICATIONS, id, what: 'verification' }),
})

export const tradeVerificationRoutes: readonly Route[] = [
  ebrcRoute,
  shippingBillRoute,
  iecRoute,
  listRoute,
  readVerification,
]
