import test from 'ava'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { holderJwk, newKeyPair, post, present } from '../../support/test-wallet.ts'

let product: HttpProduct
let client: ApiClient
const SECRETS = { reason: 'she requested it by letter' }

test.before(async () => {
  product = await sharedProduct()
  client = await openClient(product, product.url)
})

const path = (subjectId: string, what = '') => `/v1/identity/subjects/${subjectId}${what}`
const makeSubject = async (): Promise<string> =>
  (await client.post('/v1/identity/subjects', { externalRef: 'C-1', kind: 'PERSON' })).json.subjectId
const move = (own: ApiClient, subjectId: string, to: string, more: object = {}) =>
  own.post(path(subjectId, '/transitions'), { to, reason: SECRETS.reason, ...more })

const STATES = ['UNVERIFIED', 'PENDING', 'VERIFIED', 'EXPIRED', 'SUSPENDED', 'REVOKED']
const CALLERS: Record<string, string[]> = {
  UNVERIFIED: ['PENDING', 'REVOKED'],
  PENDING: ['UNVERIFIED', 'REVOKED'],
  VERIFIED: ['SUSPENDED', 'REVOKED'],
  SUSPENDED: ['VERIFIED', 'REVOKED'],
  EXPIRED: ['PENDING', 'REVOKED'],
  REVOKED: [],
}
const SYSTEMS = ['PENDING VERIFIED']

test.serial('a caller can make exactly the documented transitions', async (t) => {
  for (const from of STATES)
    for (const to of STATES) {
      const subjectId = await makeSubject()
      const assurance_expires_at = new Date(Date.now() + 3_600_000)
      await product.db('identity_subjects').where({ id: subjectId }).update({ state: from, assurance_expires_at })
      const answer = await move(client, subjectId, to, { reasonCode: 'TEST' })
      const expected = CALLERS[from]?.includes(to) ? 201 : SYSTEMS.includes(`${from} ${to}`) ? 403 : 409
      t.is(answer.status, expected, `${from} to ${to}: ${answer.text}`)
      if (expected !== 201) continue
      t.like(answer.json, { eventType: 'identity.state_changed', from, to, reasonCode: 'TEST' })
      t.is(answer.json.anchor.payloadSha256, payloadSha256(answer.json))
      t.false(answer.text.includes(SECRETS.reason))
    }
})

test.serial('a suspended identity with an expired assurance cannot be resumed', async (t) => {
  const subjectId = await makeSubject()
  const over = { state: 'SUSPENDED', assurance_expires_at: new Date(0) }
  await product.db('identity_subjects').where({ id: subjectId }).update(over)
  t.like((await move(client, subjectId, 'VERIFIED')).json, { status: 409, errors: [{ code: 'ASSURANCE_EXPIRED' }] })
})

test('an error in a request names its member', async (t) => {
  const subjectId = await makeSubject()
  const query = (credential: object) => ({
    purpose: 'x',
    query: {
      credentials: [
        { id: 'c', format: 'dc+sd-jwt', meta: { vct_values: ['x'] }, claims: [{ path: ['a'] }], ...credential },
      ],
    },
  })
  const issuer = { iss: 'https://a.example', vctValues: ['x'], issuerMetadata: true }
  const faults: [string, object, string, string][] = [
    ['/v1/identity/presentations', query({ format: 'mso_mdoc' }), 'query.credentials[0].format', 'UNKNOWN_VALUE'],
    [
      '/v1/identity/presentations',
      query({ claims: [{ path: ['aadhaarNumber'] }] }),
      'query.credentials[0].claims[0].path[0]',
      'AADHAAR_NOT_ACCEPTED',
    ],
    [
      '/v1/identity/presentations',
      query({ meta: { vct_values: [] } }),
      'query.credentials[0].meta.vct_values',
      'TOO_FEW',
    ],
    [
      '/v1/identity/presentations',
      query({ require_cryptographic_holder_binding: false }),
      'query.credentials[0].require_cryptographic_holder_binding',
      'UNKNOWN_VALUE',
    ],
    ['/v1/identity/presentations', { purpose: 'x' }, 'query', 'REQUIRED'],
    ['/v1/identity/presentations', { ...query({}), template: 'company-basic' }, 'query', 'NOT_TOGETHER'],
    [
      '/v1/identity/presentations',
      { purpose: 'x', template: 'company-basic', redirectUri: 'https://a.example/' },
      'redirectUri',
      'NOT_REGISTERED',
    ],
    [
      '/v1/identity/presentations',
      { purpose: 'x', template: 'company-basic', redirectUri: 'http://a.example/' },
      'redirectUri',
      'FORMAT',
    ],
    ['/v1/identity/subjects', { externalRef: '9999 4105 7058', kind: 'PERSON' }, 'externalRef', 'AADHAAR_NOT_ACCEPTED'],
    [path(subjectId, '/transitions'), { to: 'PENDING', reason: 'x', reasonCode: 'bad' }, 'reasonCode', 'FORMAT'],
    ['/v1/identity/issuers', { iss: 'https://a.example', vctValues: ['x'] }, 'jwks', 'REQUIRED'],
    ['/v1/identity/issuers', { ...issuer, statusHosts: ['a.example:25'] }, 'statusHosts[0]', 'PORT'],
    ['/v1/identity/issuers', { ...issuer, assurance: 'HIGH' }, 'assurance', 'NOT_PERMITTED'],
    [
      '/v1/identity/issuers',
      { iss: 'https://a.example', vctValues: ['x'], jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'A', y: 'B' }] } },
      'jwks.keys[0]',
      'KEY_UNUSABLE',
    ],
    [
      '/v1/identity/consents',
      { subjectId, purpose: 'x', fields: ['pan'], expiresAt: '2020-01-01T00:00:00Z' },
      'expiresAt',
      'TOO_EARLY',
    ],
  ]
  for (const [to, body, where, code] of faults) {
    const answer = await client.post(to, body)
    t.is(answer.status, 400, `${where}: ${answer.text}`)
    t.like(answer.json.errors[0], { path: where, code })
  }
})

test('a wallet gets an acknowledgement during the verification and can answer only once', async (t) => {
  // The shared product may have a worker of another file, which verifies at once.
  await using own = await openProduct({ listener: 'http', hasRowSecurity: true })
  const lender = await openClient(own, own.url)
  const holder = await newKeyPair()
  const requested = await lender.post('/v1/identity/presentations', { purpose: 'x', template: 'company-basic' })
  const claims = { legalName: 'Synthetic Components Private Limited', gstin: '29AAACR5678D1Z5' }
  const vct = 'https://credentials.example/company'
  const issued = await lender.post('/v1/sandbox/credentials', { holderJwk: holderJwk(holder), vct, claims })
  const { authorizationRequest, presentationId } = requested.json
  t.deepEqual(await present(authorizationRequest, issued.json.credential, holder), { status: 200, text: '{}' })
  t.is((await lender.get(`/v1/identity/presentations/${presentationId}`)).json.state, 'RECEIVED')
  const responseUri = requested.json.requestUri.replace('requests', 'responses')
  const { sealed_secrets: sealed } = await own.db('presentations').where({ id: presentationId }).first()
  const { state } = JSON.parse(own.deps.secrets.open('presentation', sealed))
  t.is((await post(responseUri, new URLSearchParams({ state, vp_token: '{}' }))).status, 409)
})

test('production presentations without a certificate get 503', async (t) => {
  const own = await openClient(product, product.url, { env: 'PRODUCTION' })
  const answer = await own.post('/v1/identity/presentations', { purpose: 'x', template: 'company-basic' })
  t.like(answer.json, { status: 503, code: 'SERVICE_UNAVAILABLE' })
  const credential = { holderJwk: holderJwk(await newKeyPair()), vct: 'x', claims: {} }
  t.is((await own.post('/v1/sandbox/credentials', credential)).status, 403)
})
