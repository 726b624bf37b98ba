import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { findDispute } from '#shared/risk/first-financing/dispute-store.ts'
import { BlindDisputeBody, DisputeRequestBody } from '#shared/risk/first-financing/requests.ts'
import { DisputeSchema, disputeView } from '#shared/risk/first-financing/view.ts'
import { answerDispute } from '#shared/risk/operations/disputes.ts'
import { DISPUTES, runDispute } from '#shared/risk/operations/financing-requests.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'

const common = { tags: ['First financing'], access: withScope('first-financing:register') } as const
const params = { disputeId: idParam('disputeId of the dispute') }

const disputeRoute = write({
  ...common,
  path: DISPUTES,
  operationId: 'disputeRegistration',
  summary: 'Dispute the registration of another organisation',
  description:
    'The holder is notified and has seven days to confirm or release. Without an answer its registration is marked as contested. The service does not decide disputes and releases nothing.',
  params: {},
  body: z.union([DisputeRequestBody, BlindDisputeBody]),
  responses: waitingResponses({ 201: DisputeSchema }),
  perform: (context) => runDispute(context, context.body),
})

const readDispute = read({
  ...common,
  path: `${DISPUTES}/{disputeId}`,
  operationId: 'getDispute',
  summary: 'Get a dispute, as either party',
  params,
  responses: pollingResponses(DisputeSchema),
  async handle({ caller, params: { disputeId: id }, deps }) {
    const dispute = isUuid(id) ? await findDispute(deps.db, caller, id) : undefined
    if (dispute) return disputeView(dispute)
    return await readOutcome(deps, caller, { kind: 'financing.dispute', folder: DISPUTES, id, what: 'dispute' })
  },
})

const answerRoute = write({
  ...common,
  path: `${DISPUTES}/{disputeId}/answer`,
  operationId: 'answerDispute',
  summary: 'Answer a dispute, as the holder',
  params,
  body: z.strictObject({ answer: z.enum(['CONFIRM', 'RELEASE']) }),
  returns: DisputeSchema,
  async handle({ caller, params: { disputeId }, body, tx, enqueue, deps }) {
    if (!isUuid(disputeId)) throw new NotFoundError('dispute not found')
    return disputeView(await answerDispute(tx, caller, disputeId, body.answer, { enqueue, now: deps.now }))
  },
})

export const disputeRoutes: readonly Route[] = [disputeRoute, readDispute, answerRoute]
