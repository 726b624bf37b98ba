import { z } from 'zod'
import { anchorObject, eventOf, payloadSha256 } from '#shared/anchoring/leaf.ts'
import { parseProofBundle } from '#shared/anchoring/proof-bundle.ts'
import { verifyAnchored } from '#shared/anchoring/verify.ts'
import { CanonicalJsonError } from '#shared/canonical/jcs.ts'
import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import type { IngressDeps } from '../../deps.ts'
import { defineRoute } from '../../route.ts'
import { jsonAnswer, sendAnswer } from '../answer.ts'
import { problemResponses } from '../documents.ts'
import { readJson } from '../json-body.ts'
import { viewAnchor } from './log-view.ts'
import { logPolicy } from './policy.ts'

const TX_ID = /^[0-9a-f]{64}$/

export const AnchorViewSchema = z
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

export const readAnchorRoute = defineRoute({
  method: 'get',
  path: '/v1/anchors/{txId}',
  operationId: 'getAnchor',
  summary: 'How far an anchor is, with its proof',
  description: 'Public. `proof` is the RFC 6962 audit path, `tlogProof` everything an offline verifier needs.',
  tags: ['Anchoring'],
  security: [],
  params: { txId: { pattern: '[^/]+', description: 'txId of an anchor block', example: '20a5fdbe…' } },
  responses: {
    200: { description: 'The anchor', content: { 'application/json': AnchorViewSchema } },
    ...problemResponses(404, 503),
  },
  async handle(request, response, deps) {
    const { txId } = request.params
    const view = TX_ID.test(txId) ? await viewAnchor(deps.db, txId) : undefined
    if (!view) throw new NotFoundError('there is no such anchor')
    response.setHeader('Access-Control-Allow-Origin', '*')
    sendAnswer(response, jsonAnswer(200, view))
  },
})

const VerifyBody = z.object({ object: z.record(z.string(), z.unknown()) }).meta({ id: 'VerifyAnchorRequest' })

const VerifySchema = z
  .object({
    verified: z.boolean(),
    verdict: z.enum(['VERIFIED', 'PARTIAL', 'FAILED']),
    payloadSha256: z.string(),
    txId: z.string().nullable(),
    state: z.enum(['PENDING', 'INCLUDED', 'WITNESSED', 'EXTERNAL']).nullable(),
    checks: z.array(
      z.object({ name: z.string(), result: z.string(), code: z.string().optional(), detail: z.string() }),
    ),
  })
  .meta({ id: 'VerifiedAnchor' })

export const verifyAnchorRoute = defineRoute({
  method: 'post',
  path: '/v1/anchors/verify',
  operationId: 'verifyAnchor',
  summary: 'Recompute the hash of an object and look its anchor up',
  description:
    'Public, changes nothing, and stores nothing. An object without an `anchor` is looked up by the anchor that it ' +
    'would have. Trust no server with this question when it matters: verify offline.',
  tags: ['Anchoring'],
  security: [],
  params: {},
  body: { required: true, content: { 'application/json': VerifyBody } },
  responses: {
    200: { description: 'What was found', content: { 'application/json': VerifySchema } },
    ...problemResponses(400, 413, 415, 503),
  },
  async handle(request, response, deps) {
    const body = await readJson(request)
    response.setHeader('Access-Control-Allow-Origin', '*')
    sendAnswer(response, jsonAnswer(200, await verifyObject(objectOf(body), deps)))
  },
})

/** Exactly `{"object": {...}}`. @throws ValidationError */
function objectOf(body: unknown): JsonObject {
  if (isObject(body) && isObject(body.object) && Object.keys(body).length === 1) return body.object
  const message = 'the body must be {"object": {...}} and nothing else'
  throw new ValidationError(message, [{ path: 'object', code: 'TYPE', message }])
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

async function verifyObject(object: JsonObject, deps: IngressDeps): Promise<z.infer<typeof VerifySchema>> {
  const digest = digestOf(object)
  const anchored = isObject(object.anchor) ? object : withAnchor(object)
  const stated = isObject(anchored.anchor) ? anchored.anchor.txId : undefined
  const txId = typeof stated === 'string' && TX_ID.test(stated) ? stated : null
  const view = txId === null ? undefined : await viewAnchor(deps.db, txId)
  const env = view?.env === 'production' ? 'PRODUCTION' : 'SANDBOX'
  const proof = view ? parseProofBundle({ ...view }) : undefined
  const { verdict, checks } = verifyAnchored(anchored, proof, await logPolicy(deps, env))
  return {
    verified: verdict === 'VERIFIED',
    // An anchor that the log does not hold was never given by us.
    verdict: view ? verdict : 'FAILED',
    payloadSha256: digest,
    txId,
    state: view?.state ?? null,
    checks: checks.map((check) => ({ ...check })),
  }
}

/** The object with the anchor it would have, if it says what it is and when. */
function withAnchor(object: JsonObject): JsonObject {
  const event = eventOf(object)
  return event ? { ...object, anchor: { ...anchorObject(object, event).anchor } } : object
}

/** @throws ValidationError when the object has no canonical form */
function digestOf(object: JsonObject): string {
  try {
    return payloadSha256(object)
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error
    throw new ValidationError(error.message, [
      { path: `object.${error.path}`, code: error.code, message: error.message },
    ])
  }
}
