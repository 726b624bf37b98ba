import { z } from 'zod'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { proveConsistency } from '#shared/transparency/anchoring/merkle-proof.ts'
import { findEntry, latestCheckpoint, readTiles } from '#shared/transparency/anchoring/store.ts'
import { parseBase64Hash, parseDecimal, parseHexHash, toBase64, toHex } from '#shared/transparency/anchoring/text.ts'
import { tileHashReader, tilesNeeded } from '#shared/transparency/anchoring/tiles.ts'
import { problemResponses } from '../documents.ts'
import { read } from '../risk-route.ts'
import { inclusionProof } from './log-view.ts'
import { envParam, logReaders, publicAnswer } from './transparency.ts'

const JSON_TYPE = 'application/json'
const size = z
  .string()
  .refine((text) => parseDecimal(text) !== undefined, { message: 'must be a size of the log' })
  .transform(Number)

const InclusionQuery = z.strictObject({
  hash: z.string().meta({ description: 'leaf hash in hex (a txId) or base64' }),
  size: size.optional().meta({ description: 'tree size; the newest when absent' }),
})

const ConsistencyQuery = z.strictObject({ from: size, to: size.optional() })

export const inclusionRoute = read({
  path: '/v1/transparency/{env}/proof/inclusion',
  operationId: 'getInclusionProof',
  summary: 'Audit path of an entry',
  tags: ['Transparency log'],
  access: logReaders,
  params: { env: envParam },
  query: InclusionQuery,
  responses: {
    200: { description: 'RFC 6962 section 2.1.1, base64', content: { [JSON_TYPE]: null } },
    ...problemResponses(400, 404, 429, 503),
  },
  async handle({ env, query, deps }) {
    const leaf = parseHexHash(query.hash) ?? parseBase64Hash(query.hash)
    if (!leaf) throw fieldError('hash', 'hash is neither hex nor base64 of 32 bytes')
    const newest = (await latestCheckpoint(deps.db, env))?.size ?? 0
    const treeSize = query.size ?? newest
    if (treeSize > newest) throw fieldError('size', 'size is beyond the newest checkpoint')
    const found = await findEntry(deps.db, env, Buffer.from(leaf))
    if (!found || found.seq === null || found.seq >= treeSize) throw new NotFoundError('the tree has no such entry')
    const proof = await inclusionProof(deps.db, env, found.seq, treeSize)
    const body = { hash: toHex(leaf), index: found.seq, size: treeSize, proof: proof.map(toBase64) }
    return publicAnswer(JSON_TYPE, 'no-store', JSON.stringify(body))
  },
})

export const consistencyRoute = read({
  path: '/v1/transparency/{env}/proof/consistency',
  operationId: 'getConsistencyProof',
  summary: 'Proof that one tree is the beginning of another',
  tags: ['Transparency log'],
  access: logReaders,
  params: { env: envParam },
  query: ConsistencyQuery,
  responses: {
    200: { description: 'RFC 6962 section 2.1.2, base64', content: { [JSON_TYPE]: null } },
    ...problemResponses(400, 404, 429, 503),
  },
  async handle({ env, query: { from, to: asked }, deps }) {
    const newest = (await latestCheckpoint(deps.db, env))?.size ?? 0
    const to = asked ?? newest
    if (to > newest) throw fieldError('to', 'to is beyond the newest checkpoint')
    if (from > to) throw fieldError('from', 'from is larger than to')
    const needed = tilesNeeded(to, (read) => proveConsistency(from, to, read))
    const proof = proveConsistency(from, to, tileHashReader(to, await readTiles(deps.db, env, needed)))
    return publicAnswer(JSON_TYPE, 'no-store', JSON.stringify({ from, to, proof: proof.map(toBase64) }))
  },
})

function fieldError(path: string, message: string): ValidationError {
  return new ValidationError(message, [{ path, code: 'RANGE', message }])
}
