import { ConflictError, NotFoundError } from '#shared/errors.ts'
import { ReceivableSchema } from '#shared/risk/receivables/evidence-object.ts'
import { findReceivables } from '#shared/risk/receivables/store.ts'
import { Answer } from '#shared/tenancy/idempotency/answer.ts'
import { problemResponses } from '../../problem-responses.ts'
import type { Route } from '../../route.ts'
import { read } from '../risk-route.ts'
import { consumer } from './consumer.ts'
import { cutEvidenceRoutes } from './cut-evidence.ts'
import { cutFileRoutes } from './cut-file-route.ts'
import { cutRoutes } from './cuts.ts'
import { poolRoutes } from './pools.ts'

const readReceivable = read({
  path: '/v1/securitisation/receivables/{ref}',
  operationId: 'getReceivableEvidence',
  summary: 'Get the anchored evidence object of a receivable',
  description:
    '`ref` is the id of the receivable, its reference in a pool, or its document number. If several receivables match, the answer is 409.',
  tags: ['Securitisation evidence'],
  access: consumer,
  params: {
    ref: {
      pattern: '[^/]{1,300}',
      description: 'receivableId, reference or document number',
      example: 'INV-2026-0001',
    },
  },
  responses: {
    200: { description: 'The anchored object', content: { 'application/json': ReceivableSchema } },
    ...problemResponses(401, 403, 404, 409, 429, 503),
  },
  async handle({ consumer, params: { ref }, deps: { db } }) {
    const [found, ...others] = await findReceivables(db, consumer, ref)
    if (!found) throw new NotFoundError('receivable not found')
    if (others.length > 0) {
      const message = 'several receivables have this reference: use the receivableId'
      throw new ConflictError(message, [{ path: 'ref', code: 'AMBIGUOUS', message }])
    }
    return new Answer(200, found.body)
  },
})

export const securitisationRoutes: readonly Route[] = [
  readReceivable,
  ...poolRoutes,
  ...cutRoutes,
  ...cutEvidenceRoutes,
  ...cutFileRoutes,
]
