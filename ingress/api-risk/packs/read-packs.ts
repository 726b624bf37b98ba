import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { anchored, EvidenceSchema } from '#shared/risk/evidence/values.ts'
import { PACKS, packAnswer, pendingPackAnswer } from '#shared/risk/operations/packs.ts'
import { PackSchema } from '#shared/risk/packs/pack-schema.ts'
import { findEvidence, findOrderRecord, findPack, listPacks } from '#shared/risk/packs/store.ts'
import { Answer } from '#shared/tenancy/idempotency/answer.ts'
import { isUuid } from '#shared/uuid.ts'
import { DEFAULT_PAGE, decodeCursor, encodeCursor, PageQuery, paged } from '../../paging.ts'
import { problemResponses } from '../../problem-responses.ts'
import { withScope } from '../access.ts'
import { idParam } from '../path-params.ts'
import { read } from '../risk-route.ts'

export const PendingPackSchema = z
  .object({
    packId: z.uuid(),
    status: z.enum(['QUEUED', 'COMPOSING']),
    links: z.object({ self: z.string(), evidence: z.string() }),
  })
  .meta({ id: 'PendingPack' })

const packIdParam = idParam('packId of the pack')

function unknownPack(): NotFoundError {
  return new NotFoundError('pack not found')
}

export const readPackRoute = read({
  path: '/v1/po/risk-signals/packs/{packId}',
  operationId: 'getPack',
  summary: 'Get a pack, or its progress',
  tags: ['Risk signals'],
  access: withScope('risk-signals:read'),
  params: { packId: packIdParam },
  responses: {
    200: { description: 'The pack; the same bytes each time', content: { 'application/json': PackSchema } },
    202: { description: 'The pack is being composed', content: { 'application/json': PendingPackSchema } },
    ...problemResponses(401, 403, 404, 429, 500, 503),
  },
  async handle({ caller, params: { packId }, deps }) {
    const outcome = isUuid(packId) ? await findPack(deps.db, caller, packId) : undefined
    if (!outcome) throw unknownPack()
    return packAnswer(packId, outcome)
  },
})

export const readEvidenceRoute = read({
  path: '/v1/po/risk-signals/packs/{packId}/evidence',
  operationId: 'getPackEvidence',
  summary: 'Get the source of each value of a pack',
  description: 'Source, tier, time, consent and the SHA-256 of the raw answer, per value.',
  tags: ['Risk signals'],
  access: withScope('risk-signals:read'),
  params: { packId: packIdParam },
  responses: {
    200: { description: 'The evidence', content: { 'application/json': EvidenceSchema } },
    202: { description: 'The pack is being composed', content: { 'application/json': PendingPackSchema } },
    ...problemResponses(401, 403, 404, 429, 500, 503),
  },
  async handle({ caller, params: { packId }, deps }) {
    const body = isUuid(packId) ? await findEvidence(deps.db, caller, packId) : undefined
    if (body === undefined) throw unknownPack()
    if (body !== null) return new Answer(200, body)
    const outcome = await findPack(deps.db, caller, packId)
    return outcome?.state === 'FAILED' ? packAnswer(packId, outcome) : pendingPackAnswer(packId)
  },
})

export const readOrderRoute = read({
  path: '/v1/po/risk-signals/packs/{packId}/order',
  operationId: 'getPackOrder',
  summary: 'Get the anchored record of the purchase order that a pack presented first',
  tags: ['Risk signals'],
  access: withScope('risk-signals:read'),
  params: { packId: packIdParam },
  returns: anchored({ recordId: z.uuid(), packId: z.uuid() }),
  async handle({ caller, params: { packId }, deps }) {
    const body = isUuid(packId) ? await findOrderRecord(deps.db, caller, packId) : undefined
    if (body === undefined) throw new NotFoundError('this pack did not present an order first')
    return new Answer(200, body)
  },
})

const PackListSchema = z
  .object({
    packs: z.array(
      z.object({
        packId: z.uuid(),
        status: z.enum(['QUEUED', 'READY', 'FAILED']),
        signalLevel: z.string().nullable(),
        dealId: z.string().nullable(),
        requestedAt: z.string(),
        finishedAt: z.string().nullable(),
        links: z.object({ self: z.string() }),
      }),
    ),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'PackList' })

const Cursor = z.tuple([z.int(), z.string().refine(isUuid)])

export const listPacksRoute = read({
  path: PACKS,
  operationId: 'listPacks',
  summary: 'List the packs of the organisation, newest first',
  tags: ['Risk signals'],
  access: withScope('risk-signals:read'),
  params: {},
  query: PageQuery,
  returns: PackListSchema,
  async handle({ caller, query, deps: { db } }) {
    const cursor = decodeCursor(query.cursor, Cursor)
    const limit = query.limit ?? DEFAULT_PAGE
    const before = cursor && { micros: cursor[0], id: cursor[1] }
    const rows = await listPacks(db, caller, before, limit + 1)
    const { page, nextCursor } = paged(rows, limit, ({ micros, packId }) => encodeCursor([micros, packId]))
    return {
      packs: page.map(({ micros: _, ...pack }) => ({ ...pack, links: { self: `${PACKS}/${pack.packId}` } })),
      nextCursor,
    }
  },
})
