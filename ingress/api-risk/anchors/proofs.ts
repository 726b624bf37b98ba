import { z } from 'zod'
import { parseBase64Hash, parseDecimal, parseHexHash, toBase64, toHex } from '#shared/transparency/anchoring/text.ts'
import { proveEntry, proveExtension, rangeError } from '#shared/transparency/operations/proofs.ts'
import { problemResponses } from '../../problem-responses.ts'
import { read } from '../risk-route.ts'
import { envParam, logReaders, publicAnswer } from './transparency.ts'

const JSON_TYPE = 'application/json'
const size = z
  .string()
  .refine((text) => parseDecimal(text) !== undefined, 'must be a size of the log')
  .transform(Number)

const InclusionQuery = z.strictObject({
  hash: z.string().meta({ description: 'leaf hash in hex (a txId) or base64' }),
  size: size.optional().meta({ description: 'tree size; the newest when absent' }),
})

const ConsistencyQuery = z.strictObject({ from: size, to: size.optional() })

export const inclusionRoute = read({
  path: '/v1/transparency/{env}/proof/inclusion',
  operationId: 'getInclusionProof',
  summary: 'Get the audit path of an entry',
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
    if (!leaf) throw rangeError('hash', 'hash must be 32 bytes in hex or base64')
    const { index, size, proof } = await proveEntry(deps.db, env, { leaf, size: query.size })
    const body = { hash: toHex(leaf), index, size, proof: proof.map(toBase64) }
    return publicAnswer(JSON_TYPE, 'no-store', JSON.stringify(body))
  },
})

export const consistencyRoute = read({
  path: '/v1/transparency/{env}/proof/consistency',
  operationId: 'getConsistencyProof',
  summary: 'Get the proof that one tree is a prefix of another',
  tags: ['Transparency log'],
  access: logReaders,
  params: { env: envParam },
  query: ConsistencyQuery,
  responses: {
    200: { description: 'RFC 6962 section 2.1.2, base64', content: { [JSON_TYPE]: null } },
    ...problemResponses(400, 404, 429, 503),
  },
  async handle({ env, query: { from: oldSize, to: newSize }, deps }) {
    const { from, to, proof } = await proveExtension(deps.db, env, { from: oldSize, to: newSize })
    return publicAnswer(JSON_TYPE, 'no-store', JSON.stringify({ from, to, proof: proof.map(toBase64) }))
  },
})
