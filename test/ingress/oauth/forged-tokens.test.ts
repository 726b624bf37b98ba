import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import test from 'ava'
import { createSecrets, type Secrets } from '#shared/platform/process/secrets.ts'
import { generateTokenKey } from '#shared/tenancy/oauth/access-token.ts'
import { rotateTokenKeys } from '#shared/tenancy/oauth/store.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { type ApiClient, clientWith, openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let product: HttpProduct
let secrets: Secrets
let base = ''
let client: ApiClient
let privateKey: KeyObject

test.before(async () => {
  product = await sharedProduct()
  secrets = createSecrets(product.config.secretKey)
  base = product.url
  client = await openClient(product, base)
  const row = await product.db('token_keys').where({ alg: 'ES256', role: 'CURRENT' }).first('sealed_private_jwk')
  privateKey = createPrivateKey({ key: JSON.parse(secrets.open('token-key', row.sealed_private_jwk)), format: 'jwk' })
})

const part = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

const genuine = () => {
  const [header = '', payload = ''] = client.token.split('.').map((text) => Buffer.from(text, 'base64url').toString())
  return { header: JSON.parse(header), claims: JSON.parse(payload), payload }
}

/** Signed with the service key, so that only the change can be the reason. */
function es256(header: object | string, claims: object | string, key = privateKey): string {
  const input = `${part(header)}.${part(claims)}`
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

async function statusOf(token: string): Promise<number> {
  return (await clientWith(base, token, client.credentials).get('/v1/usage')).status
}

test('a hand-made token with our key is accepted, so the refusals below have other reasons', async (t) => {
  const { header, claims } = genuine()
  t.is(await statusOf(es256(header, claims)), 200)
})

test('our signature verifies with the published key and node:crypto alone', async (t) => {
  const { keys } = (await send(`${base}/v1/oauth/jwks`)).json
  const [header = '', payload = '', signature = ''] = client.token.split('.')
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
  const key = createPublicKey({ key: keys.find((jwk: { kid: string }) => jwk.kid === kid), format: 'jwk' })
  const input = Buffer.from(`${header}.${payload}`)
  t.true(verify('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url')))
})

const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const hour = 3600

const forgeries: [name: string, make: () => string][] = [
  ['alg none', () => `${part({ ...genuine().header, alg: 'none' })}.${part(genuine().claims)}.`],
  [
    'HS256 signed with the public key',
    () => {
      const input = `${part({ ...genuine().header, alg: 'HS256' })}.${part(genuine().claims)}`
      const pem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' })
      return `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`
    },
  ],
  ['an unknown kid', () => es256({ ...genuine().header, kid: 'unknown' }, genuine().claims)],
  ['a kid like a path', () => es256({ ...genuine().header, kid: '../../etc/passwd' }, genuine().claims)],
  ['no kid', () => es256({ alg: 'ES256', typ: 'at+jwt' }, genuine().claims)],
  ["a stranger's key", () => es256(genuine().header, genuine().claims, stranger)],
  [
    'an embedded key',
    () => {
      const jwk = createPublicKey(stranger).export({ format: 'jwk' })
      return es256({ ...genuine().header, jwk }, genuine().claims, stranger)
    },
  ],
  ['an unknown crit', () => es256({ ...genuine().header, crit: ['b64'], b64: true }, genuine().claims)],
  ['another typ', () => es256({ ...genuine().header, typ: 'JWT' }, genuine().claims)],
  ['duplicated claims', () => es256(genuine().header, genuine().payload.replace('{', '{"env":"PRODUCTION",'))],
  [
    'a duplicated header',
    () => es256(JSON.stringify(genuine().header).replace('{', '{"alg":"none",'), genuine().claims),
  ],
  ['a payload of 10 kB', () => es256(genuine().header, { ...genuine().claims, extra: 'x'.repeat(10_000) })],
  ['an expired time', () => es256(genuine().header, { ...genuine().claims, exp: genuine().claims.iat - hour })],
  [
    'L18: a life beyond the longest that ours have',
    () => es256(genuine().header, { ...genuine().claims, exp: genuine().claims.iat + 2 * hour }),
  ],
  ['a time to come', () => es256(genuine().header, { ...genuine().claims, nbf: genuine().claims.iat + hour })],
  [
    'a birth to come',
    () => {
      const { header, claims } = genuine()
      return es256(header, { ...claims, iat: claims.iat + hour, exp: claims.exp + hour })
    },
  ],
  ['no subject', () => es256(genuine().header, { ...genuine().claims, sub: undefined })],
  ['another subject', () => es256(genuine().header, { ...genuine().claims, sub: 'another' })],
  ['no time of birth', () => es256(genuine().header, { ...genuine().claims, iat: undefined })],
  ['no end', () => es256(genuine().header, { ...genuine().claims, exp: undefined })],
  ['no audience', () => es256(genuine().header, { ...genuine().claims, aud: undefined })],
  ['another audience', () => es256(genuine().header, { ...genuine().claims, aud: 'https://elsewhere.example' })],
  ['an audience of several', () => es256(genuine().header, { ...genuine().claims, aud: [genuine().claims.aud, 'x'] })],
  ['another issuer', () => es256(genuine().header, { ...genuine().claims, iss: 'https://elsewhere.example' })],
  ['another environment', () => es256(genuine().header, { ...genuine().claims, env: 'PRODUCTION' })],
  ['another organisation', () => es256(genuine().header, { ...genuine().claims, org: crypto.randomUUID() })],
  [
    'an altered environment under the old signature',
    () => {
      const [header, , signature] = client.token.split('.')
      return `${header}.${part({ ...genuine().claims, env: 'PRODUCTION' })}.${signature}`
    },
  ],
  ['no token at all', () => 'nonsense'],
]

for (const [name, make] of forgeries) {
  test(`a token with ${name} is 401`, async (t) => {
    const answer = await clientWith(base, make(), client.credentials).get('/v1/usage')
    t.is(answer.status, 401, answer.text)
    t.is(answer.json.code, 'UNAUTHORIZED')
    t.is(answer.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
  })
}

test('a key address in the header is never requested', async (t) => {
  await using sink = await openHttpSink()
  for (const name of ['jku', 'x5u']) {
    t.is(await statusOf(es256({ ...genuine().header, [name]: `${sink.url}/keys` }, genuine().claims, stranger)), 401)
  }
  t.is(sink.requests.length, 0)
})

test('no token is a challenge, and the scheme name is case-insensitive', async (t) => {
  const bare = await send(`${base}/v1/usage`)
  t.is(bare.status, 401)
  t.is(bare.headers.get('www-authenticate'), 'Bearer')
  t.is((await send(`${base}/v1/usage`, { headers: { authorization: `bEaReR ${client.token}` } })).status, 200)
})

test('after a rotation the announced key signs, and earlier tokens stay valid', async (t) => {
  const next = await generateTokenKey('ES256')
  const before = await product.db('token_keys').where({ alg: 'ES256', role: 'NEXT' }).first('kid')
  t.is(await rotateTokenKeys(product.db, next, secrets.seal('token-key', JSON.stringify(next.privateJwk))), before.kid)
  const { base: restarted } = await product.ingress()
  const fresh = await openClient(product, restarted)
  const header = JSON.parse(Buffer.from(fresh.token.split('.')[0] ?? '', 'base64url').toString())
  t.is(header.kid, before.kid)
  t.is((await clientWith(restarted, client.token, client.credentials).get('/v1/usage')).status, 200)
  t.is(await statusOf(fresh.token), 200)
})
