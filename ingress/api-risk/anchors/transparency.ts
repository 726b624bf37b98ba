import type { ApiEnv } from '#shared/environment.ts'
import { NotFoundError } from '#shared/errors.ts'
import { Answer } from '#shared/tenancy/idempotency/answer.ts'
import { formatVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { formatPolicy } from '#shared/transparency/anchoring/policy.ts'
import { fullNote, latestCheckpoint } from '#shared/transparency/anchoring/store.ts'
import { envOfLog } from '#shared/transparency/log-keys/store.ts'
import { readTile } from '#shared/transparency/operations/proofs.ts'
import { logKey, logPolicy } from '../../log-policy.ts'
import { limitAddress } from '../../middleware/access-token.ts'
import { problemResponses } from '../../problem-responses.ts'
import type { Access, PathParam } from '../../route.ts'
import { read } from '../risk-route.ts'

export const envParam: PathParam = { pattern: '[a-z]+', description: 'sandbox or production', example: 'sandbox' }

const TEXT = 'text/plain; charset=utf-8'
const FOREVER = 'public, max-age=31536000, immutable'
const SHORT = 'public, max-age=1'

/** Public access to the log that the path names. */
export const logReaders: Access<{ env: ApiEnv }> = {
  security: [],
  admit(request, response, deps) {
    limitAddress(request, response, deps)
    const env = envOfLog(String(request.params.env))
    if (!env) throw new NotFoundError('log not found')
    return { env }
  },
}

export const checkpointRoute = read({
  path: '/v1/transparency/{env}/checkpoint',
  operationId: 'getCheckpoint',
  summary: 'Get the newest signed checkpoint of a log',
  description: 'A C2SP tlog-checkpoint, with the cosignatures of witnesses.',
  tags: ['Transparency log'],
  access: logReaders,
  params: { env: envParam },
  responses: { 200: { description: 'A signed note', content: { [TEXT]: null } }, ...problemResponses(404, 429, 503) },
  async handle({ env, deps }) {
    const checkpoint = await latestCheckpoint(deps.db, env)
    if (!checkpoint) throw new NotFoundError('the log has no entries yet')
    return publicAnswer(TEXT, SHORT, fullNote(checkpoint))
  },
})

export const tileRoute = read({
  path: '/v1/transparency/{env}/{tile}',
  operationId: 'getTile',
  summary: 'Get a tile of hashes or a bundle of entries',
  description: 'C2SP tlog-tiles: `tile/<L>/<N>[.p/<W>]` and `tile/entries/<N>[.p/<W>]`.',
  tags: ['Transparency log'],
  access: logReaders,
  params: {
    env: envParam,
    tile: { pattern: 'tile/[0-9a-z/.]+', description: 'path of the tile', example: 'tile/0/000.p/5' },
  },
  responses: {
    200: { description: 'The bytes, which never change', content: { 'application/octet-stream': null } },
    ...problemResponses(404, 429, 503),
  },
  async handle({ env, params, deps }) {
    const bytes = await readTile(deps.db, env, params.tile)
    return publicAnswer('application/octet-stream', FOREVER, Buffer.from(bytes))
  },
})

export const logKeyRoute = read({
  path: '/v1/transparency/{env}/log-key',
  operationId: 'getLogKey',
  summary: 'Get the verifier key of a log',
  description:
    'Get it once, over a channel you trust, and keep it: a key fetched together with a proof proves nothing.',
  tags: ['Transparency log'],
  access: logReaders,
  params: { env: envParam },
  responses: {
    200: { description: 'The key, as name+id+key', content: { [TEXT]: null } },
    ...problemResponses(404, 429, 503),
  },
  async handle({ env, deps }) {
    const key = await logKey(deps, env)
    return publicAnswer(TEXT, 'public, max-age=300', `${formatVerifierKey(key)}\n`)
  },
})

export const policyRoute = read({
  path: '/v1/transparency/{env}/policy',
  operationId: 'getLogPolicy',
  summary: 'Get the log, its witnesses and their quorum',
  description: 'A C2SP tlog-policy.',
  tags: ['Transparency log'],
  access: logReaders,
  params: { env: envParam },
  responses: { 200: { description: 'The policy', content: { [TEXT]: null } }, ...problemResponses(404, 429, 503) },
  async handle({ env, deps }) {
    const policy = await logPolicy(deps, env)
    return publicAnswer(TEXT, 'public, max-age=300', formatPolicy(policy))
  },
})

/** An answer for pages of any origin. */
export function publicAnswer(type: string, caching: string, body: string | Buffer): Answer<string | Buffer> {
  return new Answer(200, body, {
    'Access-Control-Allow-Origin': '*',
    'Cache-Control': caching,
    'Content-Type': type,
  })
}
