import { randomBytes, randomUUID } from 'node:crypto'
import { type RequestOptions, request } from 'node:http'
import test from 'ava'
import { newClientSecret } from '#shared/tenancy/organisations/new-client.ts'
import { rotateSecret, setClientDisabled } from '#shared/tenancy/organisations/store.ts'
import { eventually } from '../../support/eventually.ts'
import { clientWith, makeCredentials, openClient, requestToken, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { stopRefill } from '../../support/stop-refill.ts'

let product: HttpProduct
let base = ''

test.before(async () => {
  product = await sharedProduct()
  base = product.url
})

const grant = { grant_type: 'client_credentials' }

function basic(id: string, secret: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }
}

/** Each caller has another address: failed attempts of one test do not throttle another. */
let addresses = 0
const elsewhere = () => ({ 'x-forwarded-for': `198.51.100.${++addresses}` })

test('form fields and HTTP Basic give the same kind of token, with Cache-Control: no-store', async (t) => {
  const { clientId, clientSecret } = await makeCredentials(product)
  const byForm = await requestToken(base, { ...grant, client_id: clientId, client_secret: clientSecret })
  const byBasic = await requestToken(base, grant, basic(clientId, clientSecret))
  for (const { status, json, headers } of [byForm, byBasic]) {
    t.is(status, 200)
    t.like(json, { token_type: 'Bearer', expires_in: 900 })
    t.is(headers.get('cache-control'), 'no-store')
    t.is(headers.get('pragma'), 'no-cache')
    t.is((await clientWith(base, json.access_token, byForm.json).get('/v1/usage')).status, 200)
  }
})

test('a token has the claims of RFC 9068, its environment and its organisation', async (t) => {
  const { token, credentials } = await openClient(product, base)
  const [header, payload] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString())
  t.like(JSON.parse(header ?? ''), { alg: 'ES256', typ: 'at+jwt' })
  const claims = JSON.parse(payload ?? '')
  t.like(claims, {
    iss: product.config.publicUrl,
    aud: product.config.publicUrl,
    sub: credentials.clientId,
    client_id: credentials.clientId,
    env: 'SANDBOX',
    org: credentials.organisationId,
  })
  t.is(claims.exp - claims.iat, 900)
  t.true(claims.scope.split(' ').includes('risk-signals:run'))
})

const refusals: [name: string, form: Record<string, string>, status: number, error: string][] = [
  ['no grant type', {}, 400, 'invalid_request'],
  ['another grant', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
  ['a refresh', { grant_type: 'refresh_token' }, 400, 'unsupported_grant_type'],
  ['no credentials', { ...grant }, 401, 'invalid_client'],
  ['an unknown client', { ...grant, client_id: 'client_x', client_secret: 'y' }, 401, 'invalid_client'],
]

for (const [name, form, status, error] of refusals) {
  test(`${name} is ${error}`, async (t) => {
    const answer = await requestToken(base, form, elsewhere())
    t.is(answer.status, status)
    t.is(answer.json.error, error)
    t.is(answer.json.code, status === 401 ? 'UNAUTHORIZED' : 'VALIDATION_ERROR')
    t.is(answer.headers.get('cache-control'), 'no-store')
  })
}

test('an unknown client and a wrong secret get the same answer', async (t) => {
  const { clientId } = await makeCredentials(product)
  const wrong = await requestToken(base, { ...grant, client_id: clientId, client_secret: 'x' }, elsewhere())
  const unknown = await requestToken(base, { ...grant, client_id: 'client_zz', client_secret: 'x' }, elsewhere())
  t.is(wrong.status, 401)
  t.deepEqual({ ...wrong.json, requestId: '' }, { ...unknown.json, requestId: '' })
  const byBasic = await requestToken(base, grant, { ...basic(clientId, 'x'), ...elsewhere() })
  t.is(byBasic.status, 401)
  t.regex(byBasic.headers.get('www-authenticate') ?? '', /^Basic /)
})

test('repeated parameters, JSON, two kinds of credentials and credentials in the URL are refused', async (t) => {
  const { clientId, clientSecret } = await makeCredentials(product)
  const url = `${base}/v1/oauth/token`
  const form = `grant_type=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const post = (body: string, headers: Record<string, string>, query = '') =>
    send(`${url}${query}`, { method: 'POST', body, headers })
  const answers = [
    await post(`${form}&client_id=${clientId}`, type),
    await post(`${form}&scope=a&scope=b`, type),
    await post(JSON.stringify(grant), { 'content-type': 'application/json' }),
    await post(form, { ...type, ...basic(clientId, clientSecret) }),
    await post('grant_type=client_credentials', type, `?client_id=${clientId}&client_secret=${clientSecret}`),
  ]
  for (const { status, json, headers } of answers) {
    t.is(status, 400)
    t.is(json.error, 'invalid_request')
    t.is(headers.get('cache-control'), 'no-store')
  }
  t.is((await post(`${form}&scope=kyb:read%20nothing`, type)).json.error, 'invalid_scope')
})

test('the token endpoint reads empty parameters as absent and resources as addresses', async (t) => {
  const { clientId, clientSecret } = await makeCredentials(product)
  const ask = (form: string, headers: Record<string, string> = basic(clientId, clientSecret)) =>
    requestToken(base, `grant_type=client_credentials&${form}`, headers)
  const audienceOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).aud
  const own = product.config.publicUrl
  const shouted = own.toUpperCase()
  for (const [form, audience] of [
    ['client_secret=', own],
    ['client_id=&client_secret=&scope=&resource=', own],
    ['scope=&scope=kyb:read', own],
    [`resource=${own}/`, own],
    [`resource=${shouted}&resource=${own}`, own],
    [`resource=${shouted}/mcp&resource=${own}/mcp`, `${own}/mcp`],
  ] as const) {
    const { status, json } = await ask(form)
    t.is(status, 200, `${form}: ${JSON.stringify(json)}`)
    t.is(audienceOf(json.access_token), audience, form)
  }
  const credentials = new URLSearchParams({ client_id: clientId, client_secret: clientSecret })
  t.is((await ask(`${credentials}&client_id=`, {})).status, 200)
  for (const foreign of [`${own}/MCP`, `${own}/mcp/`, `${own}%23x`, 'x', `${own}&resource=${own}/mcp`]) {
    t.is((await ask(`resource=${foreign}`)).json.error, 'invalid_target', foreign)
  }
})

test('guessed secrets get 429, and the client still gets tokens from its own address', async (t) => {
  const { clientId, clientSecret } = await makeCredentials(product)
  const attacker = elsewhere()
  const guess = () => requestToken(base, { ...grant, client_id: clientId, client_secret: 'guess' }, attacker)
  let last = await guess()
  for (let attempt = 1; attempt < 60 && last.status === 401; attempt++) last = await guess()
  t.is(last.status, 429)
  t.is(last.json.code, 'RATE_LIMITED')
  t.true(Number(last.headers.get('retry-after')) >= 1)
  const right = { ...grant, client_id: clientId, client_secret: clientSecret }
  // A guess comes free every six seconds, and the right secret may meet it.
  await eventually(
    'the right secret to be refused from there too',
    async () => (await guess()).status === 429 && (await requestToken(base, right, attacker)).status === 429,
  )
  t.is((await requestToken(base, right, elsewhere())).status, 200)
})

test('guesses from many addresses are limited, and a correct secret still works', async (t) => {
  const { clientId, clientSecret } = await makeCredentials(product)
  const statuses: number[] = []
  for (let attempt = 0; attempt < 34; attempt++) {
    const form = { ...grant, client_id: clientId, client_secret: `guess ${attempt}` }
    statuses.push((await requestToken(base, form, elsewhere())).status)
    if (attempt === 0) await stopRefill(product.db, `token:client:${clientId}`) // one comes free every two seconds
  }
  t.is(statuses[0], 401)
  t.is(statuses.at(-1), 429)
  const right = { ...grant, client_id: clientId, client_secret: clientSecret }
  t.is((await requestToken(base, right, elsewhere())).status, 200)
})

test('the previous secret works until the next rotation', async (t) => {
  const { clientId, clientSecret } = await makeCredentials(product)
  const enter = async (secret: string) =>
    (await requestToken(base, { ...grant, client_id: clientId, client_secret: secret }, elsewhere())).status
  const rotate = async () => {
    const secret = newClientSecret(randomBytes)
    t.true(await product.db.transaction((tx) => rotateSecret(tx, clientId, secret)))
    return secret.text
  }
  const second = await rotate()
  t.deepEqual([await enter(clientSecret), await enter(second)], [200, 200])
  const third = await rotate()
  t.deepEqual([await enter(clientSecret), await enter(second), await enter(third)], [401, 200, 200])
})

test('a disabled client gets no token, and its live token stops within seconds', async (t) => {
  const client = await openClient(product, base)
  t.is((await client.get('/v1/usage')).status, 200)
  const { clientId, clientSecret } = client.credentials
  await setClientDisabled(product.db, clientId, true)
  const form = { ...grant, client_id: clientId, client_secret: clientSecret }
  t.is((await requestToken(base, form, elsewhere())).status, 401)
  await eventually('the token to stop', async () => (await client.get('/v1/usage')).status === 401)
})

test('the metadata names the endpoints and contains nothing private', async (t) => {
  const metadata = await send(`${base}/.well-known/oauth-authorization-server`)
  t.like(metadata.json, {
    issuer: product.config.publicUrl,
    token_endpoint: `${product.config.publicUrl}/v1/oauth/token`,
    grant_types_supported: ['client_credentials'],
  })
  await makeCredentials(product, { name: randomUUID() })
  const { json } = await send(`${base}/v1/oauth/jwks`)
  t.deepEqual(json.keys.map(({ alg }: { alg: string }) => alg).toSorted(), ['ES256', 'ES256', 'RS256'])
  for (const key of json.keys) t.false(['d', 'p', 'q', 'dp', 'dq', 'qi'].some((name) => name in key))
})

test('concurrent guesses above the limit are not compared', async (t) => {
  const { clientId, clientSecret } = await makeCredentials(product)
  const attacker = elsewhere()
  const startedAt = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      requestToken(base, { ...grant, client_id: clientId, client_secret: `guess ${n}` }, attacker),
    ),
  )
  const looked = answers.filter(({ status }) => status === 401).length
  const grownBack = Math.ceil((performance.now() - startedAt) / 6000)
  t.true(looked >= 10 && looked <= 10 + grownBack, `${looked} were looked at`)
  t.is(answers.filter(({ status }) => status === 429).length, 40 - looked)
  const right = { ...grant, client_id: clientId, client_secret: clientSecret }
  t.is((await requestToken(base, right, elsewhere())).status, 200)
})

test('a client with a correct secret may request many tokens at once', async (t) => {
  const { clientId, clientSecret } = await makeCredentials(product)
  const here = elsewhere()
  const right = { ...grant, client_id: clientId, client_secret: clientSecret }
  const answers = await Promise.all(Array.from({ length: 40 }, () => requestToken(base, right, here)))
  // On a busy machine some wait too long for a hash, which does not refuse the client.
  const statuses = answers.map(({ status }) => status).filter((status) => status !== 503)
  t.deepEqual(new Set(statuses), new Set([200]))
  t.is((await requestToken(base, { ...right, client_secret: 'guess' }, here)).status, 401)
})

test('guesses from one IPv6 network count together', async (t) => {
  const { clientId } = await makeCredentials(product)
  const statuses: number[] = []
  for (let n = 1; n <= 60 && statuses.at(-1) !== 429; n++) {
    const from = { 'x-forwarded-for': `2001:db8:1:2::${n}` }
    statuses.push((await requestToken(base, { ...grant, client_id: clientId, client_secret: 'guess' }, from)).status)
  }
  t.is(statuses[0], 401)
  t.is(statuses.at(-1), 429)
  const nextListener = { 'x-forwarded-for': '2001:db8:1:3::1' }
  t.is((await requestToken(base, { ...grant, client_id: clientId, client_secret: 'guess' }, nextListener)).status, 401)
})

test('two Authorization headers are refused', async (t) => {
  const client = await openClient(product, base)
  const { clientId, clientSecret } = client.credentials
  const ask = (path: string, init: RequestOptions, authorization: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const outgoing = request(`${base}${path}`, init, (answer) => resolve(answer.resume().statusCode))
      outgoing.on('error', reject)
      outgoing.setHeader('authorization', [authorization, authorization])
      outgoing.end(init.method === 'POST' ? 'grant_type=client_credentials' : undefined)
    })
  t.is(await ask('/v1/usage', {}, `Bearer ${client.token}`), 401)
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  t.is(await ask('/v1/oauth/token', form, basic(clientId, clientSecret).authorization ?? ''), 401)
  t.is((await client.get('/v1/usage')).status, 200)
})
