import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import type { Committed } from '#shared/risk/evidence/commitment.ts'
import { anchored } from '#shared/risk/evidence/values.ts'
import { recordTradeDocument } from '#shared/risk/operations/record-trade.ts'
import { DOCUMENT_TYPES, DocumentBody } from '#shared/risk/trade/requests.ts'
import { findDocuments, listDocuments } from '#shared/risk/trade/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { PageQuery, readPage } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'

const tags = ['Trade provenance'] as const

const DocumentSchema = anchored({
  documentId: z.uuid(),
  type: z.enum(DOCUMENT_TYPES),
  sha256: z.string(),
  sizeBytes: z.int().nullable(),
  mediaType: z.string().nullable(),
  tier: z.string(),
  signatureSha256: z.string().nullable(),
  commitments: z.array(z.object({ name: z.string(), commitment: z.string() })),
}).meta({ id: 'TradeDocument' })

const recordRoute = write({
  tags,
  access: withScope('trade:write'),
  path: '/v1/trade/documents',
  operationId: 'recordTradeDocument',
  summary: 'Record a document by its hash',
  description: 'The file is never uploaded: you hash it and keep it.',
  params: {},
  body: DocumentBody,
  returns: DocumentSchema,
  status: 201,
  handle: ({ caller, body, tx, deps }) => recordTradeDocument(tx, caller, body, deps),
})

const listRoute = read({
  tags,
  access: withScope('trade:read'),
  path: '/v1/trade/documents',
  operationId: 'listTradeDocuments',
  summary: 'List recorded documents, newest first',
  params: {},
  query: PageQuery,
  returns: z.object({ documents: z.array(DocumentSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps: { db, secrets } }) {
    const { page, nextCursor } = await readPage(query, secrets, (wanted) => listDocuments(db, caller, wanted))
    return { documents: page.map(({ body }) => JSON.parse(body)), nextCursor }
  },
})

const OwnDocumentSchema = z
  .object({
    record: DocumentSchema,
    metadata: z.array(z.object({ name: z.string(), value: z.string(), salt: z.string() })).meta({
      description: 'the content of each commitment: SHA-256 of the salt and the canonical JSON of [name, value]',
    }),
    signature: z.string().nullable(),
  })
  .meta({ id: 'OwnTradeDocument' })

const readRoute = read({
  tags,
  access: withScope('trade:read'),
  path: '/v1/trade/documents/{documentId}',
  operationId: 'getTradeDocument',
  summary: 'Get a recorded document',
  params: { documentId: idParam('documentId of the document') },
  returns: OwnDocumentSchema,
  async handle({ caller, params: { documentId }, deps }) {
    const [found] = isUuid(documentId) ? await findDocuments(deps.db, caller, [documentId]) : []
    if (!found) throw new NotFoundError('there is no such document')
    // Encrypted by this service.
    const sealed = JSON.parse(deps.secrets.open('trade', found.sealedValues)) as {
      metadata: Committed[]
      signature: string | null
    }
    return { record: JSON.parse(found.body), ...sealed }
  },
})

export const tradeDocumentRoutes: readonly Route[] = [recordRoute, listRoute, readRoute]
