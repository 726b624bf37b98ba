import { z } from 'zod'
import { EvidenceContractSchema, loanRefHash } from '#shared/risk/colending/mapping.ts'
import { listEvidence } from '#shared/risk/colending/store.ts'
import { DEFAULT_PAGE, PageQuery, paged, sealCursor, unsealCursor } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { read } from '../risk-route.ts'
import { importRoutes } from './imports/routes.ts'
import { lmsEventRoutes } from './lms-events.ts'
import { mappingRoutes } from './mappings.ts'

const listRoute = read({
  path: '/v1/colending/evidence',
  operationId: 'listLoanEvidence',
  summary: 'List evidence contracts, newest first',
  description: '`loanRef` is the reference of the partner. It is stored and shown only as a keyed hash.',
  tags: ['Co-lending'],
  access: withScope('colending:read'),
  params: {},
  query: PageQuery.extend({ loanRef: z.string().min(1).max(200).optional() }),
  returns: z.object({ evidence: z.array(EvidenceContractSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps: { db, risk, secrets } }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const before = unsealCursor(query.cursor, secrets)
    const key = await risk.loanRefKey(caller.env)
    const loanRef = query.loanRef === undefined ? null : loanRefHash(key, caller.organisationId, query.loanRef)
    const rows = await listEvidence(db, caller, { loanRef, before, limit: limit + 1 })
    const { page, nextCursor } = paged(rows, limit, ({ seq }) => sealCursor(seq, secrets))
    return { evidence: page.map(({ body }) => JSON.parse(body)), nextCursor }
  },
})

const evidenceRoutes: readonly Route[] = [listRoute]

export const colendingRoutes: readonly Route[] = [
  ...lmsEventRoutes,
  ...evidenceRoutes,
  ...mappingRoutes,
  ...importRoutes,
]
