import type { Request } from 'express'
import { z } from 'zod'
import { parseWith } from '#shared/parse-with.ts'
import type { ImportState } from '#shared/risk/colending/imports/import.ts'
import type { NewUpload } from '#shared/risk/colending/imports/upload-store.ts'
import type { UploadedFile } from '#shared/risk/operations/imports.ts'
import { jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import { requestFingerprint, type StoredAnswer } from '#shared/tenancy/idempotency/store.ts'
import { keyScope } from '#shared/tenancy/operations/idempotency.ts'
import type { IngressDeps } from '../../../deps.ts'
import { receiveUpload, requireFile } from '../../../import-upload.ts'
import type { Caller } from '../../../middleware/access-token.ts'
import { bodyPieces } from '../../../middleware/form-text.ts'
import { problemResponses } from '../../../problem-responses.ts'
import { defineRoute, type Route } from '../../../route.ts'
import { withScope } from '../../access.ts'
import { sendAnswer } from '../../answer.ts'
import { readIdempotencyKey } from '../../idempotency.ts'
import { IdempotencyHeaders, queryRecord } from '../../risk-route.ts'

interface UploadSpec<Query> {
  path: '/v1/colending/loan-tapes' | '/v1/colending/bureau-files'
  operationId: string
  summary: string
  description: string
  /** accepted media types */
  types: readonly string[]
  query: z.ZodObject & z.ZodType<Query>
  /** @throws ValidationError for a mapping of other files */
  plan(query: Query): Pick<NewUpload, 'kind' | 'style' | 'requestedMapping'>
}

const ReceivedSchema = z
  .object({
    importId: z.uuid(),
    status: z.enum(['RECEIVED', 'RUNNING', 'COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED']),
    links: z.object({ self: z.string() }),
  })
  .meta({ id: 'ImportReceived' })

/** Declares a POST of a file. The file is stored and hashed, then received in one transaction with its answer. */
export function uploadRoute<Query>(spec: UploadSpec<Query>): Route {
  const { path, types } = spec
  const access = withScope('colending:write')
  return defineRoute({
    path,
    method: 'post',
    operationId: spec.operationId,
    summary: spec.summary,
    description: spec.description,
    tags: ['Co-lending'],
    security: access.security,
    scopes: access.scopes ?? [],
    params: {},
    query: spec.query,
    headers: IdempotencyHeaders,
    body: { required: true, content: Object.fromEntries(types.map((type) => [type, null])) },
    responses: {
      200: {
        description: 'The same bytes were received before: their import',
        content: { 'application/json': ReceivedSchema },
      },
      202: {
        description: 'Received; a worker imports it',
        content: { 'application/json': ReceivedSchema },
        headers: { Location: 'where to poll', 'Retry-After': 'seconds' },
      },
      ...problemResponses(400, 401, 403, 409, 413, 415, 422, 429, 503),
    },
    async handle(request, response, deps) {
      const { caller } = await access.admit(request, response, deps)
      const key = readIdempotencyKey(request)
      requireFile(request, types)
      const query = parseWith(spec.query, queryRecord(request), 'the query')
      const plan = spec.plan(query)
      const answer = await receive(deps, caller, request, { key, path, query: { ...query }, plan })
      sendAnswer(response, answer, deps)
    },
  })
}

function receive(
  deps: IngressDeps,
  caller: Caller,
  request: Request,
  requested: { key: string; path: string; query: object; plan: Pick<NewUpload, 'kind' | 'style' | 'requestedMapping'> },
): Promise<StoredAnswer> {
  const { organisationId, env } = caller
  const scope = keyScope(caller, requested.key)
  return receiveUpload(deps, bodyPieces(request), {
    upload: { organisationId, env, ...requested.plan, fileName: null },
    once: (file) => ({ scope, fingerprint: fingerprintOf(requested, file), retentionDays: 1 }),
    answer: ({ importId, status, isNew }) => receivedAnswer(requested.path, importId, status, isNew),
  })
}

/** Requests with equal method, route, query and bytes are the same request. */
function fingerprintOf({ path, query }: { path: string; query: object }, { sha256 }: UploadedFile): Buffer {
  const body = { query, sha256: sha256.toString('hex') }
  return requestFingerprint({ method: 'POST', route: path, params: {}, body })
}

function receivedAnswer(folder: string, importId: string, status: ImportState, isNew: boolean): StoredAnswer {
  const self = `${folder}/${importId}`
  const body = { importId, status, links: { self } }
  return isNew ? jsonAnswer(202, body, { Location: self, 'Retry-After': '1' }) : jsonAnswer(200, body)
}
