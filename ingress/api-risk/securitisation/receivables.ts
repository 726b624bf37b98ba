import { ConflictError, NotFoundError } from '#shared/errors.ts'
import { ReceivableSchema } from '#shared/risk/receivables/evidence-object.ts'
import { findReceivables } from '#shared/risk/receivables/store.ts'
import { Answer } from '#shared/tenancy/idempotency/answer.ts'
import { problemResponses } from '../../problem-responses.ts'
import type { Route } from '../../route.ts'
import { read } from '../risk-route.ts'
import { consumerKeyAccess } from './consumer-key.ts'
import { cutEvidenceRoutes } from './cut-evidence.ts'
import { cutFileRoutes } from './cut-file-route.ts'
import { cutRoutes } from './cuts.ts'
import { poolRoutes } from './pools.ts'

const readReceivable = read({
  path: '/v1/securitisation/receivables/{ref}',
  operationId: 'getReceivableEvidence',
  summary: 'Get the anchored evidence object of a receivable',
  description:
    '`ref` is the `receivableId` of the evidence object, the reference in a pool, or the document number. If several receivables match, the response is 409.',
  tags: ['Securitisation evidence'],
  access: consumerKeyAccess,
  params: {
    ref: {
      pattern: '[^/]{1,300}',
      description: 'receivableId of the evidence object, reference in a pool, or document number',
      example: 'INV-2026-0001',
    },
  },
  responses: {
    200: { description: 'The anchored evidence object', content: { 'application/json': ReceivableSchema } },
    ...problemResponses(401, 403, 404, 409, 429, 503),
  },
  async handle({ caller, params: { ref }, deps: { db } }) {
    const [receivable, ...others] = await findReceivables(db, caller, ref)
    if (!receivable) throw new NotFoundError(`no receivable has the id, reference or document number "${ref}"`)
    if (others.length > 0) {
      const message = `several receivables match "${ref}": use the receivableId of the evidence object`
      throw new ConflictError(message, [{ path: 'ref', code: 'AMBIGUOUS', message }])
    }
    return new Answer(200, receivable.body)
  },
})

export const securitisationRoutes: readonly Route[] = [
  readReceivable,
  ...poolRoutes,
  ...cutRoutes,
  ...cutEvidenceRoutes,
  ...cutFileRoutes,
]
