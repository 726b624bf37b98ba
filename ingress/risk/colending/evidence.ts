import { z } from 'zod'
import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { NotFoundError } from '#shared/errors.ts'
import { EvidenceContractSchema, MappedRecordSchema } from '#shared/risk/colending/contract.ts'
import { loanRefHash } from '#shared/risk/colending/loan-ref.ts'
import { mapRecord, recognise } from '#shared/risk/colending/map-record.ts'
import { findMapping, MAPPINGS } from '#shared/risk/colending/mappings/registry.ts'
import { listEvidence } from '#shared/risk/colending/store.ts'
import { paged } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { DEFAULT_PAGE, decodeCursor, encodeCursor, PageQuery } from '../paging.ts'
import { read, write } from '../risk-route.ts'

const listRoute = read({
  path: '/v1/colending/evidence',
  operationId: 'listLoanEvidence',
  summary: 'Evidence contracts, newest first',
  description: '`loanRef` is the partner’s own reference; it is stored and shown only as a keyed hash.',
  tags: ['Co-lending'],
  access: withScope('colending:read'),
  params: {},
  query: PageQuery.extend({ loanRef: z.string().min(1).max(200).optional() }),
  returns: z.object({ evidence: z.array(EvidenceContractSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps: { db, risk } }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const before = decodeCursor(query.cursor, z.tuple([z.int()]))?.[0] ?? null
    const key = await risk.loanRefKey(caller.env)
    const loanRef = query.loanRef === undefined ? null : loanRefHash(key, caller.organisationId, query.loanRef)
    const rows = await listEvidence(db, caller, { loanRef, before, limit: limit + 1 })
    const { page, nextCursor } = paged(rows, limit, ({ seq }) => encodeCursor([seq]))
    return { evidence: page.map(({ body }) => JSON.parse(body)), nextCursor }
  },
})

const MappingSchema = z
  .object({
    id: z.string(),
    sourceSystem: z.string(),
    sourceFormat: z.string(),
    description: z.string(),
    recognisedBy: z.array(z.string()),
    event: z.object({ from: z.array(z.string()), becomes: z.record(z.string(), z.string()) }),
    fields: z.array(
      z.object({
        target: z.string(),
        from: z.array(z.string()),
        transform: z.string(),
        only: z.array(z.string()).optional(),
      }),
    ),
  })
  .meta({ id: 'LoanMapping' })

const mappingsRoute = read({
  path: '/v1/colending/mappings',
  operationId: 'listLoanMappings',
  summary: 'How source formats become evidence contracts, as data',
  tags: ['Co-lending'],
  access: withScope('colending:read'),
  params: {},
  returns: z.object({ mappings: z.array(MappingSchema), nextCursor: z.string().nullable() }),
  async handle() {
    return { mappings: MAPPINGS, nextCursor: null }
  },
})

const previewRoute = write({
  path: '/v1/colending/mappings/{mappingId}/preview',
  operationId: 'previewLoanMapping',
  summary: 'Try a mapping on a record: nothing is stored, anchored or metered',
  tags: ['Co-lending'],
  access: withScope('colending:write'),
  params: {
    mappingId: {
      pattern: '[a-z-]{1,60}(?:@|%40)[0-9]{1,4}',
      description: 'name and version of a mapping',
      example: 'generic-envelope@1',
    },
  },
  body: z.strictObject({
    record: z.record(z.string(), z.unknown()),
    headers: z.record(z.string().toLowerCase(), z.string()).default({}),
  }),
  returns: z.object({
    mappingId: z.string(),
    recognised: z.boolean().meta({ description: 'whether an inbound record like this would be read by this mapping' }),
    sourceEvent: z.string().nullable(),
    reason: z.enum(['EVENT_UNKNOWN', 'LOAN_MISSING']).nullable(),
    contract: MappedRecordSchema.nullable(),
  }),
  async handle({ params, body }) {
    const mapping = findMapping(params.mappingId.replace('%40', '@'))
    if (!mapping) throw new NotFoundError('there is no such mapping')
    // The whole body came through our JSON parser, so its members are JSON values.
    const source = { body: body.record as JsonObject, headers: body.headers }
    const { sourceEvent, reason, record } = mapRecord(mapping, source)
    const recognised = recognise(MAPPINGS, source) === mapping
    return { mappingId: mapping.id, recognised, sourceEvent, reason, contract: record }
  },
})

export const evidenceRoutes: readonly Route[] = [listRoute, mappingsRoute, previewRoute]
