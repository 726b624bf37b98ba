import { z } from 'zod'
import { listEvidenceKeys } from '#shared/risk/domain-keys/evidence-key-store.ts'
import { problemResponses } from '../../problem-responses.ts'
import { envParam, logReaders, publicAnswer } from '../anchors/transparency.ts'
import { read } from '../risk-route.ts'

const KeysSchema = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string(),
        kid: z.string().meta({ description: 'RFC 7638 thumbprint; the keyid of signatures' }),
        use: z.literal('sig'),
        alg: z.literal('EdDSA'),
      }),
    ),
  })
  .meta({ id: 'EvidenceKeys' })

export const evidenceKeysRoute = read({
  path: '/v1/transparency/{env}/evidence-keys',
  operationId: 'getEvidenceKeys',
  summary: 'Get the keys that sign trade packs',
  description:
    'All keys, newest first; empty before the first pack. Each key is anchored when it is created. Get them once over a trusted connection, and keep them.',
  tags: ['Transparency log'],
  access: logReaders,
  params: { env: envParam },
  responses: {
    200: { description: 'A JSON Web Key set', content: { 'application/json': KeysSchema } },
    ...problemResponses(404, 429, 503),
  },
  async handle({ env, deps }) {
    const keys = JSON.stringify({ keys: await listEvidenceKeys(deps.db, env) })
    return publicAnswer('application/json', 'public, max-age=300', keys)
  },
})
