import type { Request, Response } from 'express'
import { z } from 'zod'
import { runSharedJob } from '#shared/jobs/operations/jobs.ts'
import { parseWith } from '#shared/parse-with.ts'
import { chosenCut, cutFileJob, isCutIncluded } from '#shared/risk/operations/pool-requests.ts'
import type { CutFile } from '#shared/risk/operations/read-cut.ts'
import { cutFileLength, readCutFile } from '#shared/risk/pools/cut-files-store.ts'
import type { PoolCut } from '#shared/risk/pools/store.ts'
import { TAPE_FORMATS } from '#shared/risk/pools/tape.ts'
import { type Answer, jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import type { IngressDeps } from '../../deps.ts'
import { problemResponses } from '../../problem-responses.ts'
import { defineRoute, type ResponseDocument, type Route } from '../../route.ts'
import { sendStream } from '../../text-pieces.ts'
import { sendAnswer } from '../answer.ts'
import { readByJob } from '../jobs.ts'
import { checkParams } from '../path-params.ts'
import { queryRecord } from '../risk-route.ts'
import { consumerKeyAccess } from './consumer-key.ts'
import { cutQuery } from './cuts.ts'
import { poolParam } from './pools.ts'

const TYPES: Record<CutFile, { type: string; name: string }> = {
  csv: { type: 'text/csv; charset=utf-8; header=present', name: 'tape.csv' },
  json: { type: 'application/json', name: 'tape.json' },
  'esma-annex4': { type: 'text/csv; charset=utf-8; header=present', name: 'tape-esma-annex4-partial.csv' },
  bundle: { type: 'application/zip', name: 'bag.zip' },
}

const waiting: ResponseDocument = {
  description: 'The file is being created, or the log does not include the cut yet',
  content: { 'application/json': z.object({ status: z.string() }) },
  headers: { 'Retry-After': 'seconds' },
}

interface FileSpec<Query> {
  path: '/v1/securitisation/pools/{poolId}/tape' | '/v1/securitisation/pools/{poolId}/export'
  operationId: string
  summary: string
  description: string
  types: readonly string[]
  query: z.ZodObject & z.ZodType<Query>
  /** selects the file and the cut */
  choose(query: Query): { file: CutFile; cut?: string | undefined }
}

/** Declares a file of a cut. A worker creates it on the first request; later requests get the stored bytes. */
function fileRoute<Query>({ choose, types, ...spec }: FileSpec<Query>): Route {
  return defineRoute({
    ...spec,
    method: 'get',
    tags: ['Securitisation evidence'],
    security: consumerKeyAccess.security,
    params: poolParam,
    responses: {
      200: { description: 'The file', content: Object.fromEntries(types.map((type) => [type, null])) },
      202: waiting,
      ...problemResponses(400, 401, 403, 404, 409, 429, 500, 503),
    },
    async handle(request, response, deps) {
      const { caller } = await consumerKeyAccess.admit(request, response, deps)
      checkParams(poolParam, request.params)
      const query = parseWith(spec.query, queryRecord(request), 'the query')
      const { file, cut: cutId } = choose(query)
      const cut = await chosenCut(deps.db, caller, request.params.poolId, cutId)
      const made = await fileLength(cut, file, { caller, deps, request })
      if (typeof made !== 'number') sendAnswer(response, made, deps)
      else await sendFile(response, deps, { cut, file, length: made })
    },
  })
}

/** @returns the bytes of the file, or 202 until it exists */
async function fileLength(
  cut: PoolCut,
  file: CutFile,
  context: { caller: Parameters<typeof runSharedJob>[0]['caller']; deps: IngressDeps; request: Request },
): Promise<number | Answer> {
  const { db } = context.deps
  const known = await cutFileLength(db, cut.id, file)
  if (known !== undefined) return known
  if (file === 'bundle' && !(await isCutIncluded(db, cut))) {
    return jsonAnswer(202, { status: 'ANCHORING' }, { 'Retry-After': '1' })
  }
  const answer = await readByJob(context, (job) =>
    runSharedJob(job, cutFileJob(cut.id, file, context.request.originalUrl)),
  )
  return (await cutFileLength(db, cut.id, file)) ?? answer
}

async function sendFile(
  response: Response,
  { db }: IngressDeps,
  { cut, file, length }: { cut: PoolCut; file: CutFile; length: number },
): Promise<void> {
  const { type, name } = TYPES[file]
  response.setHeader('Content-Type', type)
  response.setHeader('Content-Disposition', `attachment; filename="pool-${cut.id.slice(0, 8)}-${name}"`)
  response.setHeader('Cache-Control', 'no-store')
  await sendStream(response, readCutFile(db, cut.id, file), length)
}

const tapeRoute = fileRoute({
  path: '/v1/securitisation/pools/{poolId}/tape',
  operationId: 'getPoolTape',
  summary: 'Get the receivables of a cut as a tape',
  description:
    'One line for each receivable, in pool order; the same bytes each time. `esma-annex4` is partial: it has the first fields of the form, and ND5 in the fields without evidence. Unknown values are empty, null or ND5, never zero.',
  types: ['text/csv', 'application/json'],
  query: z.strictObject({ format: z.enum(TAPE_FORMATS).default('csv'), cut: cutQuery }),
  choose: ({ format, cut }) => ({ file: format, cut }),
})

const exportRoute = fileRoute({
  path: '/v1/securitisation/pools/{poolId}/export',
  operationId: 'exportPoolCut',
  summary: 'Get a cut as a BagIt package in a ZIP file',
  description:
    'The cut with its proof, its evidence objects, the tape and the strata. The answer is 202 until the log includes the cut, then the same bytes each time. `npm run -s verify` checks it offline.',
  types: ['application/zip'],
  query: z.strictObject({ cut: cutQuery }),
  choose: ({ cut }) => ({ file: 'bundle', cut }),
})

export const cutFileRoutes: readonly Route[] = [tapeRoute, exportRoute]
