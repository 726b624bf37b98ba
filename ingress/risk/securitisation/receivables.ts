import { NotFoundError } from '#shared/errors.ts'
import { ReceivableSchema } from '#shared/risk/receivables/evidence-object.ts'
import { findReceivable } from '#shared/risk/receivables/store.ts'
import { defineRoute, type Route } from '../../route.ts'
import { sendAnswer } from '../answer.ts'
import { limitAddress } from '../authenticate.ts'
import { problemResponses } from '../documents.ts'
import { authenticateConsumer } from './consumer.ts'

const readReceivable = defineRoute({
  method: 'get',
  path: '/v1/securitisation/receivables/{ref}',
  operationId: 'getReceivableEvidence',
  summary: 'The evidence object of one receivable, as it was anchored',
  description: '`ref` is the id of the receivable or the organisation’s own reference.',
  tags: ['Securitisation evidence'],
  security: ['consumerKey'],
  params: {
    ref: { pattern: '[^/]{1,300}', description: 'receivableId or own reference', example: 'INV-2026-0001' },
  },
  responses: {
    200: { description: 'As anchored', content: { 'application/json': ReceivableSchema } },
    ...problemResponses(401, 404, 429, 503),
  },
  async handle(request, response, deps) {
    limitAddress(request, response, deps)
    const scope = await authenticateConsumer(request, response, deps)
    const body = await findReceivable(deps.db, scope, request.params.ref)
    if (body === undefined) throw new NotFoundError('there is no such receivable')
    sendAnswer(response, { status: 200, headers: {}, body })
  },
})

export const securitisationRoutes: readonly Route[] = [readReceivable]
