import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { anchored } from '#shared/risk/evidence/values.ts'
import {
  BundleVerificationSchema,
  exportTradePack,
  tradeBundle,
  verifyTradeBundle,
} from '#shared/risk/operations/trade-packs.ts'
import { runTradePack, TRADE_PACKS } from '#shared/risk/operations/trade-requests.ts'
import { BundleSchema } from '#shared/risk/trade/bundle-schema.ts'
import { TradePackBody } from '#shared/risk/trade/requests.ts'
import { findTradePack, listTradePacks, type StoredTradePack } from '#shared/risk/trade/store.ts'
import { Answer } from '#shared/tenancy/idempotency/answer.ts'
import { isUuid } from '#shared/uuid.ts'
import type { IngressDeps } from '../../deps.ts'
import { logPolicy } from '../../log-policy.ts'
import type { Caller } from '../../middleware/access-token.ts'
import { readJson } from '../../middleware/json-body.ts'
import { PageQuery, readPage } from '../../paging.ts'
import { problemResponses } from '../../problem-responses.ts'
import type { ResponseDocument, Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { pollingResponses, waitingResponses } from '../jobs.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { TradeCheckSchema } from './verifications.ts'

const tags = ['Trade provenance'] as const
const params = { tradePackId: idParam('packId of the pack') }

const RecordSchema = anchored({
  packId: z.uuid(),
  statementSha256: z.string(),
  documents: z.int(),
  checks: z.int(),
})

const PackSchema = z
  .object({
    packId: z.uuid(),
    title: z.string().nullable(),
    documents: z.array(z.object({ documentId: z.uuid(), type: z.string(), sha256: z.string(), tier: z.string() })),
    checks: z.array(TradeCheckSchema),
    record: RecordSchema,
  })
  .meta({ id: 'TradePack' })

const issueRoute = write({
  tags,
  access: withScope('trade:write'),
  path: TRADE_PACKS,
  operationId: 'issueTradePack',
  summary: 'Issue a signed pack of documents and findings',
  description:
    'An in-toto statement over the hashes of the documents, in a DSSE envelope, signed with a key of /v1/transparency/{env}/evidence-keys and anchored.',
  params: {},
  body: TradePackBody,
  responses: waitingResponses({ 201: PackSchema }),
  perform: (context) => runTradePack(context, context.body),
})

const listRoute = read({
  tags,
  access: withScope('trade:read'),
  path: TRADE_PACKS,
  operationId: 'listTradePacks',
  summary: 'List trade packs, newest first',
  params: {},
  query: PageQuery,
  returns: z.object({
    packs: z.array(z.object({ packId: z.uuid(), title: z.string().nullable(), record: RecordSchema })),
    nextCursor: z.string().nullable(),
  }),
  async handle({ caller, query, deps: { db, secrets } }) {
    const { page, nextCursor } = await readPage(query, secrets, (wanted) => listTradePacks(db, caller, wanted))
    return {
      packs: page.map(({ id, title, record }) => ({ packId: id, title, record: JSON.parse(record) })),
      nextCursor,
    }
  },
})

const readRoute = read({
  tags,
  access: withScope('trade:read'),
  path: `${TRADE_PACKS}/{tradePackId}`,
  operationId: 'getTradePack',
  summary: 'Get an issued trade pack',
  params,
  responses: pollingResponses(PackSchema),
  handle: ({ caller, params: { tradePackId: id }, deps }) => outcome(deps, caller, id),
})

function outcome(deps: IngressDeps, caller: Caller, id: string): Promise<Answer> {
  return readOutcome(deps, caller, { kind: 'trade.pack', folder: TRADE_PACKS, id, what: 'pack' })
}

/** Responds with 202 until the pack is issued. */
function fileRoute(
  part: 'bundle' | 'export' | 'pdf',
  described: { operationId: string; summary: string; description: string; type: string; schema: z.ZodType | null },
  bytesOf: (deps: IngressDeps, caller: Caller, pack: StoredTradePack) => Promise<Buffer | string>,
): Route {
  const { operationId, summary, description, type, schema } = described
  const done: ResponseDocument = { description: 'The file', content: { [type]: schema } }
  return read({
    tags,
    access: withScope('trade:read'),
    path: `${TRADE_PACKS}/{tradePackId}/${part}`,
    operationId,
    summary,
    description,
    params,
    responses: {
      200: done,
      202: { description: 'The pack is being issued', content: { 'application/json': null } },
      ...problemResponses(401, 403, 404, 409, 429, 500, 503),
    },
    async handle({ caller, params: { tradePackId: id }, deps }) {
      const pack = isUuid(id) ? await findTradePack(deps.db, caller, id) : undefined
      if (!pack) return await outcome(deps, caller, id)
      const extension = { bundle: 'json', export: 'zip', pdf: 'pdf' }[part]
      return new Answer(200, await bytesOf(deps, caller, pack), {
        'Content-Type': type,
        'Content-Disposition': `attachment; filename="trade-pack-${id.slice(0, 8)}.${extension}"`,
      })
    },
  })
}

const bundleRoute = fileRoute(
  'bundle',
  {
    operationId: 'getTradeBundle',
    summary: 'Get the signed bundle of a trade pack',
    description:
      '`proof` is null until the log includes the record. Do not trust the keys in a bundle: get them separately.',
    type: 'application/json',
    schema: BundleSchema,
  },
  (deps, _caller, pack) => tradeBundle(deps.db, pack),
)

const exportRoute = fileRoute(
  'export',
  {
    operationId: 'exportTradePack',
    summary: 'Get a trade pack as a BagIt package in a ZIP file',
    description: 'The same bytes each time after the log includes the record. The documents are not included.',
    type: 'application/zip',
    schema: null,
  },
  async (deps, caller, pack) => {
    const bytes = await exportTradePack(deps.db, deps.secrets, caller, pack.id)
    if (!bytes) throw new NotFoundError('pack not found')
    return bytes
  },
)

const pdfRoute = fileRoute(
  'pdf',
  {
    operationId: 'getTradePackPdf',
    summary: 'Get the summary of a trade pack as PDF',
    description: 'Created when the pack was issued.',
    type: 'application/pdf',
    schema: null,
  },
  async (_deps, _caller, pack) => pack.pdf,
)

const VerifyBody = z.union([BundleSchema, z.strictObject({ bundle: BundleSchema })])

const verifyRoute = read({
  method: 'post',
  tags,
  access: withScope('trade:read'),
  path: `${TRADE_PACKS}/verify`,
  operationId: 'verifyTradeBundle',
  summary: 'Verify a bundle of any issuer',
  description:
    'Uses the keys that this environment has published. It changes nothing and needs no idempotency key. If the result matters, verify offline instead of trusting a server.',
  params: {},
  body: { required: true, content: { 'application/json': VerifyBody } },
  responses: {
    200: { description: 'The result', content: { 'application/json': BundleVerificationSchema } },
    ...problemResponses(400, 401, 403, 413, 415, 429, 503),
  },
  async handle({ caller, request, deps }) {
    return await verifyTradeBundle(deps.db, caller.env, await readJson(request), (env) => logPolicy(deps, env))
  },
})

export const tradePackRoutes: readonly Route[] = [
  issueRoute,
  listRoute,
  // Before the route whose parameter would take `verify` for an id.
  verifyRoute,
  readRoute,
  bundleRoute,
  exportRoute,
  pdfRoute,
]
