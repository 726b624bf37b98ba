import type { Response } from 'express'
import type { ApiEnv } from '#shared/environment.ts'
import { NotFoundError } from '#shared/errors.ts'
import { encodeEntryBundle } from '#shared/transparency/anchoring/entry-bundle.ts'
import { formatVerifierKey } from '#shared/transparency/anchoring/note-key.ts'
import { formatPolicy } from '#shared/transparency/anchoring/policy.ts'
import { fullNote, latestCheckpoint, readEntries, readTiles } from '#shared/transparency/anchoring/store.ts'
import { HASH_BYTES } from '#shared/transparency/anchoring/text.ts'
import { parseTilePath, TILE_WIDTH, tileWidthAt } from '#shared/transparency/anchoring/tile-path.ts'
import { envOfLog } from '#shared/transparency/log-keys/store.ts'
import { defineRoute, type PathParam } from '../../route.ts'
import { limitAddress } from '../authenticate.ts'
import { problemResponses } from '../documents.ts'
import { logKey, logPolicy } from './policy.ts'

export const envParam: PathParam = { pattern: '[a-z]+', description: 'sandbox or production', example: 'sandbox' }

const TEXT = 'text/plain; charset=utf-8'
const FOREVER = 'public, max-age=31536000, immutable'
const SHORT = 'public, max-age=1'

/** @throws NotFoundError for any other text */
export function envOf(name: string): ApiEnv {
  const env = envOfLog(name)
  if (!env) throw new NotFoundError('there is no such log')
  return env
}

export const checkpointRoute = defineRoute({
  method: 'get',
  path: '/v1/transparency/{env}/checkpoint',
  operationId: 'getCheckpoint',
  summary: 'The newest signed checkpoint of a log',
  description: 'A C2SP tlog-checkpoint, with the cosignatures of witnesses.',
  tags: ['Transparency log'],
  security: [],
  params: { env: envParam },
  responses: { 200: { description: 'A signed note', content: { [TEXT]: null } }, ...problemResponses(404, 429, 503) },
  async handle(request, response, deps) {
    limitAddress(request, response, deps)
    const checkpoint = await latestCheckpoint(deps.db, envOf(request.params.env))
    if (!checkpoint) throw new NotFoundError('the log has no entries yet')
    sendPublic(response, TEXT, SHORT, fullNote(checkpoint))
  },
})

export const tileRoute = defineRoute({
  method: 'get',
  path: '/v1/transparency/{env}/{tile}',
  operationId: 'getTile',
  summary: 'A tile of hashes or a bundle of entries',
  description: 'C2SP tlog-tiles: `tile/<L>/<N>[.p/<W>]` and `tile/entries/<N>[.p/<W>]`.',
  tags: ['Transparency log'],
  security: [],
  params: {
    env: envParam,
    tile: { pattern: 'tile/[0-9a-z/.]+', description: 'path of the tile', example: 'tile/0/000.p/5' },
  },
  responses: {
    200: { description: 'The bytes, which never change', content: { 'application/octet-stream': null } },
    ...problemResponses(404, 429, 503),
  },
  async handle(request, response, deps) {
    limitAddress(request, response, deps)
    const env = envOf(request.params.env)
    const tile = parseTilePath(request.params.tile)
    const size = (await latestCheckpoint(deps.db, env))?.size ?? 0
    const level = tile?.level === 'entries' ? 0 : (tile?.level ?? 0)
    // Only what a published checkpoint covers is shown, and never an empty tile.
    if (!tile || tileWidthAt(level, tile.index, size) < tile.width) throw new NotFoundError('there is no such tile')
    if (tile.level === 'entries') {
      const from = tile.index * TILE_WIDTH
      const entries = await readEntries(deps.db, env, from, from + tile.width)
      sendPublic(response, 'application/octet-stream', FOREVER, Buffer.from(encodeEntryBundle(entries)))
      return
    }
    const data = (await readTiles(deps.db, env, [tile]))(tile)
    if (!data) throw new NotFoundError('there is no such tile')
    sendPublic(response, 'application/octet-stream', FOREVER, Buffer.from(data.subarray(0, tile.width * HASH_BYTES)))
  },
})

export const logKeyRoute = defineRoute({
  method: 'get',
  path: '/v1/transparency/{env}/log-key',
  operationId: 'getLogKey',
  summary: 'The verifier key of a log',
  description:
    'Get it once, over a channel you trust, and keep it: a key fetched together with a proof proves nothing.',
  tags: ['Transparency log'],
  security: [],
  params: { env: envParam },
  responses: { 200: { description: 'name+id+key', content: { [TEXT]: null } }, ...problemResponses(404, 429, 503) },
  async handle(request, response, deps) {
    limitAddress(request, response, deps)
    const key = await logKey(deps, envOf(request.params.env))
    sendPublic(response, TEXT, 'public, max-age=300', `${formatVerifierKey(key)}\n`)
  },
})

export const policyRoute = defineRoute({
  method: 'get',
  path: '/v1/transparency/{env}/policy',
  operationId: 'getLogPolicy',
  summary: 'The log, its witnesses and their quorum',
  description: 'A C2SP tlog-policy.',
  tags: ['Transparency log'],
  security: [],
  params: { env: envParam },
  responses: { 200: { description: 'The policy', content: { [TEXT]: null } }, ...problemResponses(404, 429, 503) },
  async handle(request, response, deps) {
    limitAddress(request, response, deps)
    const policy = await logPolicy(deps, envOf(request.params.env))
    sendPublic(response, TEXT, 'public, max-age=300', formatPolicy(policy))
  },
})

export function sendPublic(response: Response, type: string, caching: string, body: string | Buffer): void {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Cache-Control', caching)
  response.setHeader('Content-Type', type)
  response.end(body)
}
