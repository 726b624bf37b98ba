import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import { viewAnchor } from '#shared/transparency/operations/anchors.ts'
import { VerifySchema, verifyBody } from '../../anchor-verification.ts'
import { readJsonBytes } from '../../middleware/json-body.ts'
import { problemResponses } from '../../problem-responses.ts'
import { anyClient, publicVerification } from '../access.ts'
import { formParam } from '../path-params.ts'
import { read } from '../risk-route.ts'

const AnchorViewSchema = z
  .object({
    txId: z.string(),
    network: z.string(),
    env: z.enum(['sandbox', 'production']),
    state: z.enum(['PENDING', 'INCLUDED', 'WITNESSED', 'EXTERNAL']),
    entry: z.string(),
    index: z.int().nullable(),
    treeSize: z.int().nullable(),
    proof: z.array(z.string()).nullable(),
    checkpoint: z.string().nullable(),
    tlogProof: z.string().nullable(),
  })
  .meta({ id: 'Anchor' })

// Some programs write hexadecimal in upper case.
const txIdParam = formParam(/^[0-9A-Fa-f]{64}$/, 'must be 64 hexadecimal digits', {
  description: 'txId of an anchor block',
  example: '20a5fdbe0b0f7f6a3a1f5c1d9a3d0c3e5b8f7a6c4d2e1f0a9b8c7d6e5f4a3b2c',
})

export const readAnchorRoute = read({
  path: '/v1/anchors/{txId}',
  operationId: 'getAnchor',
  summary: 'Get the state of an anchor, with its proof',
  description:
    'Public. `proof` is the RFC 6962 audit path. `tlogProof` contains everything that an offline verifier needs.',
  tags: ['Anchoring'],
  access: anyClient,
  params: { txId: txIdParam },
  responses: {
    200: { description: 'The anchor', content: { 'application/json': AnchorViewSchema } },
    ...problemResponses(404, 429, 503),
  },
  async handle({ params: { txId }, deps: { db } }) {
    const view = await viewAnchor(db, txId.toLowerCase())
    if (!view) throw new NotFoundError('anchor not found')
    return jsonAnswer(200, view, { 'Access-Control-Allow-Origin': '*' })
  },
})

const VerifyBody = z.object({ object: z.record(z.string(), z.unknown()) }).meta({ id: 'VerifyAnchorRequest' })

export const verifyAnchorRoute = read({
  method: 'post',
  path: '/v1/anchors/verify',
  operationId: 'verifyAnchor',
  summary: 'Recompute the hash of an object and find its anchor',
  description:
    'Public; changes and stores nothing. An object without an `anchor` is found by the anchor that it would have. If the result matters, verify offline instead of trusting a server. Limit: PUBLIC_RATE_LIMIT_PER_MINUTE (600) per minute and address.',
  tags: ['Anchoring'],
  access: publicVerification,
  params: {},
  body: { required: true, content: { 'application/json': VerifyBody } },
  responses: {
    200: { description: 'The result', content: { 'application/json': VerifySchema } },
    ...problemResponses(400, 413, 415, 429, 503),
  },
  async handle({ request, deps }) {
    return await verifyBody(await readJsonBytes(request), deps)
  },
})
