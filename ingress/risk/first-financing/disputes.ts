import { z } from 'zod'
import { financingRequested } from '#shared/contracts/evidence-requested.ts'
import { NotFoundError } from '#shared/errors.ts'
import { findDispute } from '#shared/risk/first-financing/dispute-store.ts'
import { type DisputeBody, DisputeRequestBody } from '#shared/risk/first-financing/requests.ts'
import { DisputeSchema, disputeView } from '#shared/risk/first-financing/view.ts'
import { answerDispute } from '#shared/risk/operations/answer-dispute.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { askWorker, pollingResponses, readOutcome, waitingResponses } from '../evidence-job.ts'
import { idParam } from '../id-param.ts'
import { read, write } from '../risk-route.ts'
import { countEvaluation } from './limits.ts'

const FOLDER = '/v1/first-financing/disputes'
const common = { tags: ['First financing'], access: withScope('first-financing:register') } as const
const params = { disputeId: idParam('disputeId of the dispute') }

const disputeRoute = write({
  ...common,
  path: FOLDER,
  operationId: 'disputeRegistration',
  summary: 'Dispute that another organisation holds a receivable',
  description:
    'The holder is told and has seven days to confirm or release; silence marks its registration as contested. Nobody adjudicates, and nothing is freed.',
  params: {},
  body: DisputeRequestBody,
  responses: waitingResponses({ 201: DisputeSchema }),
  async perform(context) {
    const { caller, deps } = context
    const { receivable, reason, evidenceSha256 = null } = context.body
    const request: DisputeBody = { receivable, reason, evidenceSha256 }
    return await askWorker(context, {
      kind: 'financing.dispute',
      message: financingRequested,
      folder: FOLDER,
      request,
      before: (tx) => countEvaluation(tx, caller, { isCheck: false, window: false }, deps),
    })
  },
})

const readDispute = read({
  ...common,
  path: `${FOLDER}/{disputeId}`,
  operationId: 'getDispute',
  summary: 'A dispute, for either of its sides',
  params,
  responses: pollingResponses(DisputeSchema),
  async handle({ caller, params: { disputeId: id }, deps }) {
    const dispute = isUuid(id) ? await findDispute(deps.db, caller, id) : undefined
    if (dispute) return disputeView(dispute)
    return await readOutcome(deps, caller, { kind: 'financing.dispute', folder: FOLDER, id, what: 'dispute' })
  },
})

const answerRoute = write({
  ...common,
  path: `${FOLDER}/{disputeId}/answer`,
  operationId: 'answerDispute',
  summary: 'Answer a dispute, as the holder',
  params,
  body: z.strictObject({ answer: z.enum(['CONFIRM', 'RELEASE']) }),
  returns: DisputeSchema,
  async handle({ caller, params: { disputeId }, body, tx, enqueue, deps }) {
    if (!isUuid(disputeId)) throw new NotFoundError('there is no such dispute')
    return disputeView(await answerDispute(tx, caller, disputeId, body.answer, { enqueue, now: deps.now }))
  },
})

export const disputeRoutes: readonly Route[] = [disputeRoute, readDispute, answerRoute]
