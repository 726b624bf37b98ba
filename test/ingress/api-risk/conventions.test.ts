import { randomUUID } from 'node:crypto'
import test from 'ava'
import { type ApiClient, demoRequest, demoTriple, openClient, type Reply, send } from '../../support/platform-client.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let product: HttpProduct
let base = ''
let client: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['pack-composer'] })
  base = product.url
  client = await openClient(product, base)
})

const run = (body: unknown, headers: Record<string, string> = {}) => client.post('/v1/po/risk-signals', body, headers)

function fieldsOf({ json }: Reply): string[] {
  return json.errors.map(({ path }: { path: string }) => path)
}

test('requests are checked in order: token, scope, idempotency key, validity', async (t) => {
  const url = `${base}/v1/po/risk-signals`
  const json = { 'content-type': 'application/json' }
  const bad = { method: 'POST', body: '{"no": 1}', headers: json }
  t.is((await send(url, bad)).status, 401)
  const narrow = await openClient(product, base, { families: ['kyb'] })
  t.is((await send(url, { ...bad, headers: { ...json, authorization: `Bearer ${narrow.token}` } })).status, 403)
  const keyless = await send(url, { ...bad, headers: { ...json, authorization: `Bearer ${client.token}` } })
  t.is(keyless.status, 400)
  t.is(keyless.json.code, 'IDEMPOTENCY_KEY_REQUIRED')
  t.is((await run({ no: 1 })).json.code, 'VALIDATION_ERROR')
})

test('HEAD returns the status and headers of GET without a body', async (t) => {
  const authorization = `Bearer ${client.token}`
  const varying = /^(?:date|x-request-id|ratelimit.*|connection|keep-alive)$/
  for (const [path, headers] of [
    ['/v1/transparency/sandbox/log-key', {}],
    ['/v1/transparency/sandbox/checkpoint', {}],
    ['/v1/oauth/jwks', {}],
    ['/.well-known/oauth-authorization-server', {}],
    ['/.well-known/oauth-protected-resource/mcp', {}],
    ['/.well-known/jwt-vc-issuer', {}],
    ['/v1/anchors/nothing', {}],
    ['/v1/po/risk-signals/packs', { authorization }],
    ['/v1/po/risk-signals/packs', {}],
    ['/v1/usage?from=never', { authorization }],
  ] as const) {
    const [got, head] = [
      await send(`${base}${path}`, { headers }),
      await send(`${base}${path}`, { method: 'HEAD', headers }),
    ]
    const lasting = ({ headers: all }: Reply) =>
      Object.fromEntries([...all].filter(([name]) => !varying.test(name)).map(([name, value]) => [name, value]))
    t.is(head.status, got.status, path)
    t.is(head.text, '')
    t.deepEqual(lasting(head), lasting(got), path)
  }
  for (const path of ['/v1/oauth/token', '/mcp', '/v1/nothing']) {
    t.is((await send(`${base}${path}`, { method: 'HEAD' })).status, path === '/v1/nothing' ? 404 : 405, path)
  }
  const refused = await send(`${base}/v1/oauth/jwks`, { method: 'PUT' })
  t.is(refused.headers.get('allow'), 'GET, HEAD')
})

for (const key of ['', 'x'.repeat(256), 'has space', 'ключ']) {
  test(`the idempotency key ${JSON.stringify(key.slice(0, 12))} is refused`, async (t) => {
    const value = /[^\x20-\x7e]/.test(key) ? Buffer.from(key).toString('latin1') : key
    const answer = await run(demoRequest, { 'x-idempotency-key': value })
    t.is(answer.status, 400)
    t.is(answer.json.code, 'IDEMPOTENCY_KEY_REQUIRED')
  })
}

test('an idempotency key with another body gets 422, but not in another organisation or environment', async (t) => {
  const key = { 'x-idempotency-key': randomUUID() }
  const first = await run(demoRequest, key)
  const changed = await run({ ...demoRequest, poValue: 7 }, key)
  t.is(changed.status, 422)
  t.is(changed.json.code, 'IDEMPOTENCY_KEY_REUSED')
  const sameMeaning = `{"poValue": 1250000.0, ${JSON.stringify(demoRequest)
    .slice(1, -1)
    .replace(/,"poValue":\d+/, '')}}`
  t.is((await run(sameMeaning, key)).text, first.text)
  const stranger = await openClient(product, base)
  const theirs = await stranger.post('/v1/po/risk-signals', demoRequest, key)
  t.is(theirs.status, 200)
  t.not(theirs.json.packId, first.json.packId)
})

test('a refused request does not use up its idempotency key', async (t) => {
  const key = { 'x-idempotency-key': randomUUID() }
  t.is((await run({ ...demoRequest, poValue: -1 }, key)).status, 400)
  t.is((await run(demoRequest, key)).status, 200)
})

test('fifty concurrent equal requests create one pack, unit and log entry', async (t) => {
  const own = await openClient(product, base)
  const key = { 'x-idempotency-key': randomUUID() }
  const answers = await Promise.all(Array.from({ length: 50 }, () => own.post('/v1/po/risk-signals', demoRequest, key)))
  const done = answers.filter(({ status }) => status === 200)
  const waiting = answers.filter(({ status }) => status === 409)
  t.is(done.length + waiting.length, 50)
  t.true(done.length >= 1)
  t.is(new Set(done.map(({ text }) => text)).size, 1)
  for (const { json, headers } of waiting) {
    t.is(json.code, 'IDEMPOTENCY_IN_PROGRESS')
    t.truthy(headers.get('retry-after'))
  }
  const { json: list } = await own.get('/v1/po/risk-signals/packs')
  t.is(list.packs.length, 1)
  t.is((await own.get('/v1/usage')).json.usage[0].units, 1)
  const leaf = Buffer.from(done[0]?.json.anchor.txId, 'hex')
  t.is((await product.db('log_entries').where({ leaf_hash: leaf })).length, 1)
})

const wrong = '29AAACR5678D1Z6'
const faulty: [name: string, change: object, field: string][] = [
  ['a wrong checksum', { borrowerGstin: wrong }, 'borrowerGstin'],
  ['a Cyrillic look-alike', { borrowerGstin: demoTriple.borrowerGstin.replace('A', 'А') }, 'borrowerGstin'],
  ['14 characters', { buyerGstin: demoTriple.buyerGstin.slice(0, 14) }, 'buyerGstin'],
  ['16 characters', { buyerGstin: `${demoTriple.buyerGstin}0` }, 'buyerGstin'],
  ['one registration in two roles', { borrowerGstin: demoTriple.buyerGstin }, 'borrowerGstin'],
  ['a negative value', { poValue: -1 }, 'poValue'],
  ['no value', { poValue: 0 }, 'poValue'],
  ['a value as text', { poValue: '5' }, 'poValue'],
  ['three decimals', { poValue: 1.005 }, 'poValue'],
  ['an unknown member', { approve: true }, 'approve'],
  ['no body member', { poValue: undefined }, 'poValue'],
]

for (const [name, change, field] of faulty) {
  test(`${name} is refused by name`, async (t) => {
    const answer = await run({ ...demoRequest, ...change })
    t.is(answer.status, 400)
    t.is(answer.json.code, 'VALIDATION_ERROR')
    t.true(fieldsOf(answer).includes(field), answer.text)
  })
}

test('lower case and surrounding spaces do not change a registration', async (t) => {
  const { json } = await run({ ...demoRequest, buyerGstin: ` ${demoTriple.buyerGstin.toLowerCase()} ` })
  t.is(json.signals.tradeRelationship.ab.counterpartyGstin, demoTriple.buyerGstin)
})

test('an e-invoice with an unknown signer is never clear', async (t) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = `${part({ alg: 'none', typ: 'JWT', kid: 'A'.repeat(40) })}.${part({ data: '{}', iss: 'NIC' })}.AAAA`
  const { json, status, text } = await run({ ...demoRequest, eInvoices: [token] })
  t.is(status, 200, text)
  t.not(json.signalLevel, 'CLEAR')
  t.is(json.signals.eInvoice.gstnSigned, 0)
})

const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
const member = (text: string) => `{${text},${JSON.stringify(demoRequest).slice(1)}`
const malformed: [name: string, body: string | Buffer][] = [
  ['nested 100,000 deep', deep],
  ['duplicate names', member('"poValue": 1')],
  ['__proto__', member('"__proto__": {"polluted": true}')],
  ['constructor.prototype', member('"constructor": {"prototype": {"polluted": true}}')],
  ['1e400', JSON.stringify(demoRequest).replace('1250000', '1e400')],
  ['2^53+1', JSON.stringify(demoRequest).replace('1250000', '9007199254740993')],
  ['a lone surrogate', member('"dealId": "\\ud800"')],
  ['U+0000', member('"dealId": "a\\u0000b"')],
  ['a byte-order mark', `\ufeff${JSON.stringify(demoRequest)}`],
  ['UTF-16', Buffer.from(JSON.stringify(demoRequest), 'utf16le')],
  ['a list', '[]'],
  ['nothing', ''],
]

for (const [name, body] of malformed) {
  test(`a body with ${name} is 400 and changes nothing`, async (t) => {
    const answer = await run(body)
    t.is(answer.status, 400, answer.text)
    t.is(answer.json.code, 'VALIDATION_ERROR')
    t.false('polluted' in {})
  })
}

test('an amount of -0 is refused', async (t) => {
  t.is((await run(JSON.stringify(demoRequest).replace('1250000', '-0'))).status, 400)
})

test('a body over 1 MiB gets 413; a compressed or non-JSON one gets 415', async (t) => {
  const big = await run(member(`"dealId": "${'x'.repeat(1_100_000)}"`))
  t.is(big.status, 413)
  t.is((await run(demoRequest, { 'content-encoding': 'gzip' })).status, 415)
  t.is((await run(demoRequest, { 'content-type': 'text/plain' })).status, 415)
})

test('every error is a coded problem document, and no answer names our software', async (t) => {
  const answers = [await run({}), await client.get('/v1/nothing'), await send(`${base}/v1/usage`)]
  const method = await send(`${base}/v1/usage`, { method: 'DELETE' })
  for (const answer of [...answers, method]) {
    t.is(answer.headers.get('content-type'), 'application/problem+json')
    t.is(answer.headers.get('x-powered-by'), null)
    t.is(answer.json.status, answer.status)
    t.is(answer.json.message, answer.json.detail)
    t.is(answer.json.requestId, answer.headers.get('x-request-id'))
    t.notRegex(answer.text, /select|insert|node_modules|\.ts:|at \w+ \(/i)
  }
  t.deepEqual(
    [...answers, method].map(({ json }) => json.code),
    ['VALIDATION_ERROR', 'NOT_FOUND', 'UNAUTHORIZED', 'METHOD_NOT_ALLOWED'],
  )
})

test('without a database the answer is 503 with only a request id', async (t) => {
  const { base: address, deps } = await product.ingress()
  const own = await openClient(product, address)
  await own.get('/v1/usage')
  await deps.db.destroy()
  const answer = await own.get('/v1/usage')
  t.true([500, 503].includes(answer.status))
  t.notRegex(answer.text, /knex|postgres|sql|pool|127\.0/i)
  t.truthy(answer.json.requestId)
})

test('every answer contains the rate limits, and excess requests get 429 with Retry-After', async (t) => {
  await using limited = await openProduct({ env: { PLATFORM_RATE_LIMIT_PER_MINUTE: '60' } })
  const { base: address } = await limited.ingress()
  const own = await openClient(limited, address)
  const first = await own.get('/v1/usage')
  t.is(first.headers.get('ratelimit-policy'), '"default";q=60;w=60')
  t.regex(first.headers.get('ratelimit') ?? '', /^"default";r=59;t=\d+$/)
  const rest = await Promise.all(Array.from({ length: 200 }, () => own.get('/v1/usage')))
  const refused = rest.filter(({ status }) => status === 429)
  // The remaining requests of the minute are served, and those refilled meanwhile.
  t.true(refused.length > 0 && refused.length <= 200 - 59)
  t.is(refused[0]?.json.code, 'RATE_LIMITED')
  t.true(Number(refused[0]?.headers.get('retry-after')) >= 1)
})

test('a purchase order of a second organisation is a duplicate, a repetition by the first is not', async (t) => {
  const poNumber = `PO-${randomUUID()}`
  const second = await openClient(product, base)
  t.is((await run({ ...demoRequest, poNumber })).json.signals.doubleFinancing.status, 'CLEAN')
  const own = await run({ ...demoRequest, poNumber })
  t.is(own.json.signals.doubleFinancing.status, 'CLEAN')
  const theirs = await second.post('/v1/po/risk-signals', { ...demoRequest, poNumber: poNumber.toLowerCase() })
  t.is(theirs.json.signals.doubleFinancing.status, 'DUPLICATE_REGISTERED')
  t.is(theirs.json.signalLevel, 'CONFLICTED')
  t.false(theirs.text.includes(client.credentials.organisationId))
})

test('one of two concurrent presentations of a purchase order is first', async (t) => {
  const second = await openClient(product, base)
  for (let round = 0; round < 5; round++) {
    const body = { ...demoRequest, poNumber: `PO-${randomUUID()}` }
    const both = await Promise.all([run(body), second.post('/v1/po/risk-signals', body)])
    const statuses = both.map(({ json }) => json.signals.doubleFinancing.status).toSorted()
    t.deepEqual(statuses, ['CLEAN', 'DUPLICATE_REGISTERED'])
  }
})

test('a registration of the e-invoice sandbox is accepted only in the sandbox', async (t) => {
  t.is((await run({ ...demoRequest, buyerGstin: '01AMBPG7773M002' })).status, 200)
  const live = await openClient(product, base, { env: 'PRODUCTION' })
  const refused = await live.post('/v1/po/risk-signals', {
    ...demoRequest,
    mode: 'LIVE',
    buyerGstin: '01AMBPG7773M002',
  })
  t.is(refused.status, 400)
})

test('look-ups without an access token are limited per address', async (t) => {
  await using limited = await openProduct({
    env: { PUBLIC_RATE_LIMIT_PER_MINUTE: '20', TRUSTED_PROXIES: '127.0.0.0/8' },
  })
  const { base: address } = await limited.ingress()
  const { credentials } = await openClient(limited, address)
  const from = (client: string) => ({ 'x-forwarded-for': client })
  const ask = async (path: string, headers: Record<string, string>) =>
    (await send(`${address}${path}`, { headers })).status
  const key = { 'x-api-key': credentials.apiKey ?? '' }
  for (const [path, headers, jobContext] of [
    ['/v1/securitisation/receivables/none', key, '2001:db8:1:1::'],
    ['/v1/securitisation/receivables/none', {}, '2001:db8:1:2::'],
    [`/v1/anchors/${'0'.repeat(64)}`, {}, '2001:db8:1:3::'],
    ['/v1/transparency/sandbox/checkpoint', {}, '2001:db8:1:4::'],
  ] as const) {
    const statuses = await Promise.all(
      Array.from({ length: 80 }, (_, n) => ask(path, { ...headers, ...from(`${jobContext}${n + 1}`) })),
    )
    t.true(statuses.includes(429), path)
    t.true(statuses.filter((status) => status !== 429).length >= 20, path)
  }
  t.not(await ask('/v1/securitisation/receivables/none', { ...key, ...from('2001:db8:1:5::1') }), 429)
  const verify = (at: string) => async () => {
    const headers = { 'content-type': 'application/json', ...from('2001:db8:1:6::1') }
    return (await send(`${at}/v1/anchors/verify`, { method: 'POST', headers, body: '{"object": {}}' })).status
  }
  t.true((await Promise.all(Array.from({ length: 40 }, verify(address)))).includes(429))
  t.deepEqual([...new Set(await Promise.all(Array.from({ length: 40 }, verify(base))))], [200], '0 is no limit')
})
