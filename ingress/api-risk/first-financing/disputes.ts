import type { Knex } from 'knex'
import { z } from 'zod'
import { financingRequested } from '#shared/contracts/worker-messages.ts'
import { NotFoundError } from '#shared/errors.ts'
import { type JobContext, readOutcome, runJob } from '#shared/jobs/operations/jobs.ts'
import { findDispute } from '#shared/risk/first-financing/dispute-store.ts'
import {
  BlindDisputeBody,
  type DisputeBody,
  DisputeRequestBody,
  receivableOf,
} from '#shared/risk/first-financing/requests.ts'
import { DisputeSchema, disputeView } from '#shared/risk/first-financing/view.ts'
import { answerDispute } from '#shared/risk/operations/disputes.ts'
import type { StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { countInput } from './limits.ts'

export const DISPUTES = '/v1/first-financing/disputes'
const FOLDER = DISPUTES
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
  body: z.union([DisputeRequestBody, BlindDisputeBody]),
  responses: waitingResponses({ 201: DisputeSchema }),
  perform: (context) => runDispute(context, context.body),
})

/** Has a dispute opened. @param admit what else must hold, in its transaction @throws RateLimitedError */
export async function runDispute(
  context: JobContext,
  body: z.output<typeof DisputeRequestBody> | z.output<typeof BlindDisputeBody>,
  admit?: (tx: Knex.Transaction) => Promise<void>,
): Promise<StoredAnswer> {
  const { caller, deps } = context
  const { reason, evidenceSha256 = null } = body
  const request: DisputeBody = { receivable: receivableOf(body), reason, evidenceSha256 }
  return await runJob(context, {
    kind: 'financing.dispute',
    message: financingRequested,
    folder: FOLDER,
    request,
    async before(tx) {
      await countInput(tx, caller, request.receivable, { isCheck: false }, deps)
      await admit?.(tx)
    },
  })
}

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
