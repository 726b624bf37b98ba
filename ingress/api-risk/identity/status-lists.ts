import { NotFoundError } from '#shared/errors.ts'
import { deflateList } from '#shared/risk/credentials/status-list.ts'
import { signJwt } from '#shared/risk/domain-keys/signing-key.ts'
import { readStatusList, STATUS_LIST_SIZE } from '#shared/risk/identity/passport-store.ts'
import { statusListUri } from '#shared/risk/operations/issue-identity-passport.ts'
import { jsonAnswer } from '#shared/tenancy/idempotency/answer.ts'
import { toSeconds } from '#shared/time.ts'
import { problemResponses } from '../../problem-responses.ts'
import type { Route } from '../../route.ts'
import { anyClient } from '../access.ts'
import { publicAnswer } from '../anchors/transparency.ts'
import { formParam } from '../path-params.ts'
import { read } from '../risk-route.ts'

const TYPE = 'application/statuslist+jwt'
/** Seconds for which a list is valid and may be cached. */
const TTL_SECONDS = 60

const listRoute = read({
  tags: ['Identity'],
  access: anyClient,
  path: '/v1/identity/status-lists/{n}',
  operationId: 'getStatusList',
  summary: 'Get the list of revoked passports',
  description: 'A Token Status List of one bit each, signed by the issuer of passports.',
  params: {
    n: formParam(/^[1-9][0-9]{0,14}$/, 'must be the number of a list', {
      description: 'number of the list',
      example: '1',
    }),
  },
  responses: { 200: { description: 'A signed list', content: { [TYPE]: null } }, ...problemResponses(404, 429, 503) },
  async handle({ params, deps }) {
    const n = Number(params.n)
    const list = await readStatusList(deps.db, n)
    if (!list) throw new NotFoundError('list not found')
    const { publicJwk, privateJwk } = await deps.risk.passportKey(list.env)
    const { publicUrl } = deps.config
    const claims = {
      iss: publicUrl,
      sub: statusListUri(publicUrl, n),
      iat: Math.floor(toSeconds(deps.now())),
      ttl: TTL_SECONDS,
      status_list: {
        bits: 1,
        lst: await deflateList(STATUS_LIST_SIZE, 1, new Map(list.revoked.map((idx) => [idx, 1]))),
      },
    }
    const jwt = await signJwt(claims, { typ: 'statuslist+jwt', kid: publicJwk.kid ?? '' }, privateJwk)
    return publicAnswer(TYPE, `public, max-age=${TTL_SECONDS}`, jwt)
  },
})

const issuerRoute = read({
  tags: ['Identity'],
  access: anyClient,
  path: '/.well-known/jwt-vc-issuer',
  operationId: 'getPassportIssuer',
  summary: 'Get the public keys of the passport issuer',
  params: {},
  responses: {
    200: { description: 'Metadata (SD-JWT VC)', content: { 'application/json': null } },
    ...problemResponses(429, 503),
  },
  async handle({ deps }) {
    const keys = [await deps.risk.passportKey('PRODUCTION'), await deps.risk.passportKey('SANDBOX')]
    const jwks = { keys: keys.map(({ publicJwk }) => ({ ...publicJwk, use: 'sig', alg: 'ES256' })) }
    const headers = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=300' }
    return jsonAnswer(200, { issuer: deps.config.publicUrl, jwks }, headers)
  },
})

export const statusListRoutes: readonly Route[] = [listRoute, issuerRoute]
