import { NotFoundError } from '#shared/errors.ts'
import { ReceivableSchema } from '#shared/risk/receivables/evidence-object.ts'
import { findReceivable } from '#shared/risk/receivables/store.ts'
import type { Route } from '../../route.ts'
import { Answer } from '../answer.ts'
import { problemResponses } from '../documents.ts'
import { read } from '../risk-route.ts'
import { consumer } from './consumer.ts'

const readReceivable = read({
  path: '/v1/securitisation/receivables/{ref}',
  operationId: 'getReceivableEvidence',
  summary: 'The evidence object of one receivable, as it was anchored',
  description: '`ref` is the id of the receivable or the organisation’s own reference.',
  tags: ['Securitisation evidence'],
  access: consumer,
  params: {
    ref: { pattern: '[^/]{1,300}', description: 'receivableId or own reference', example: 'INV-2026-0001' },
  },
  responses: {
    200: { description: 'As anchored', content: { 'application/json': ReceivableSchema } },
    ...problemResponses(401, 404, 429, 503),
  },
  async handle({ consumer, params: { ref }, deps: { db } }) {
    const body = await findReceivable(db, consumer, ref)
    if (body === undefined) throw new NotFoundError('there is no such receivable')
    return new Answer(200, body)
  },
})

export const securitisationRoutes: readonly Route[] = [readReceivable]
