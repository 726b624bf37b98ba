import { randomUUID } from 'node:crypto'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, clientWith, openClient, requestToken } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addProjectOf, callTool, connect, makeKey, rawPost } from './agents.ts'

let product: HttpProduct
let base = ''
let owner: ApiClient

test.before(async () => {
  product = await sharedProduct()
  base = product.url
  owner = await openClient(product, base)
})

const DAY_MS = 86_400_000
const scopes = ['agents:invoke']
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

for (const [what, change, path, code] of [
  ['without agents:invoke', { scopes: ['usage:read'] }, 'scopes', 'REQUIRED'],
  ['that may create keys', { scopes: [...scopes, 'agents:manage'] }, 'scopes', 'NOT_PERMITTED'],
  ['that may create webhooks', { scopes: [...scopes, 'webhooks:manage'] }, 'scopes', 'NOT_PERMITTED'],
  ['with an unknown scope', { scopes: [...scopes, 'all:read'] }, 'scopes', 'NOT_PERMITTED'],
  ['that reads checks without a project', { scopes: [...scopes, 'monitoring:read'] }, 'projects', 'REQUIRED'],
  ['for another environment', { scopes, env: 'PRODUCTION' }, 'env', 'NOT_PERMITTED'],
  ['that has expired', { scopes, expiresAt: inDays(-1) }, 'expiresAt', 'TOO_EARLY'],
  ['with a too late expiry', { scopes, expiresAt: inDays(2_000) }, 'expiresAt', 'TOO_LATE'],
  ['with a budget of an unknown family', { scopes, budgets: { gold: { perDay: 1 } } }, 'budgets.gold', null],
  ['with a budget below zero', { scopes, budgets: { kyb: { perDay: -1 } } }, 'budgets.kyb.perDay', null],
  ['with a limit of half a call', { scopes, dailyLimit: 0.5 }, 'dailyLimit', null],
  ['with a name of two lines', { scopes, name: 'a\nb' }, 'name', null],
  ['with an unknown member', { scopes, colour: 'red' }, 'colour', 'UNKNOWN_FIELD'],
] as const) {
  test(`refuses a key ${what} and names the member`, async (t) => {
    const { status, json } = await owner.post('/v1/agents/keys', { name: 'x', ...change })
    t.is(status, 400)
    t.like(json.errors, [{ path, ...(code !== null && { code }) }])
  })
}

test('a key has no scope beyond the token that created it', async (t) => {
  const { clientId, clientSecret } = owner.credentials
  const token = await requestToken(base, {
    ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
    scope: 'agents:invoke agents:manage usage:read',
  })
  const narrow = clientWith(base, token.json.access_token, owner.credentials)
  const { status, json } = await narrow.post('/v1/agents/keys', { name: 'x', scopes: [...scopes, 'kyb:read'] })
  t.is(status, 400)
  const message = 'scopes must not contain kyb:read'
  t.deepEqual(json.errors, [{ path: 'scopes', code: 'NOT_PERMITTED', message }])
  t.is((await narrow.post('/v1/agents/keys', { name: 'x', scopes: [...scopes, 'usage:read'] })).status, 201)
})

test('a key is valid for a year and shown only by the request that creates it', async (t) => {
  const headers = { 'x-idempotency-key': randomUUID() }
  const body = { name: ' desk ', scopes, dailyLimit: 9, budgets: { kyb: { perMonth: 5 } } }
  const made = await owner.post('/v1/agents/keys', body, headers)
  t.is(made.status, 201)
  const { key, keyId, prefix } = made.json
  t.regex(key, /^rsk_sandbox_[A-Z2-7]{16}_[\w-]{43}$/)
  t.is(prefix, key.split('_', 3).join('_'))
  t.is((await owner.post('/v1/agents/keys', body, headers)).json.key, key)
  const one = await owner.get(`/v1/agents/keys/${keyId}`)
  t.like(one.json, { name: 'desk', status: 'ACTIVE', dailyLimit: 9, calls: 0, lastUsedAt: null })
  t.deepEqual(one.json.budgets, { kyb: { perDay: null, perMonth: 5 } })
  const days = (Date.parse(one.json.expiresAt) - Date.parse(one.json.createdAt)) / DAY_MS
  t.is(Math.round(days), 365)
  const secret = key.slice(prefix.length + 1)
  t.false(one.text.includes(secret))
  t.false((await owner.get('/v1/agents/keys')).text.includes(secret))
  const row = await product.db('agent_keys').where({ key_id: keyId }).first()
  t.false(JSON.stringify(row).includes(secret))
})

test('only roles that manage agents can create, list and revoke keys', async (t) => {
  const { clientId, clientSecret } = owner.credentials
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const token = await requestToken(base, { ...form, scope: 'agents:invoke' })
  const narrow = clientWith(base, token.json.access_token, owner.credentials)
  const { keyId } = await makeKey(owner)
  t.is((await narrow.post('/v1/agents/keys', { name: 'x', scopes })).status, 403)
  for (const path of ['keys', `keys/${keyId}`, 'calls', 'digests']) {
    t.is((await narrow.get(`/v1/agents/${path}`)).status, 403, path)
  }
})

test('a key is accessible only in its organisation and environment', async (t) => {
  const [sandbox, live] = [
    await openClient(product, base, { name: 'Two environments' }),
    await openClient(product, base, { name: 'Two environments', env: 'PRODUCTION' }),
  ]
  const { key, keyId } = await makeKey(sandbox)
  await callTool(await connect(base, key), 'gstin_validate', { gstin: 'x' })
  for (const client of [live, owner]) {
    const ended = await fetch(`${base}/v1/agents/keys/${keyId}`, {
      ...{ method: 'DELETE', headers: { authorization: `Bearer ${client.token}` } },
    })
    t.is(ended.status, 404)
    t.is((await client.get(`/v1/agents/keys/${keyId}`)).status, 404)
    t.false((await client.get('/v1/agents/keys')).text.includes(keyId))
    t.deepEqual((await client.get(`/v1/agents/calls?keyId=${keyId}`)).json.calls, [])
  }
  t.is((await sandbox.get(`/v1/agents/keys/${keyId}`)).json.status, 'ACTIVE')
  t.is((await sandbox.get(`/v1/agents/calls?keyId=${keyId}`)).json.calls.length, 1)
})

const discover = {
  ...{ jsonrpc: '2.0', id: 1, method: 'server/discover' },
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}
const modern = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'server/discover' }

test('a revoked key is refused by another listener that cached it', async (t) => {
  const { base: second } = await product.ingress()
  const { key, keyId } = await makeKey(owner)
  const statusOf = async () => (await rawPost(second, discover, { ...modern, authorization: `Bearer ${key}` })).status
  t.is(await statusOf(), 200)
  const ended = await fetch(`${base}/v1/agents/keys/${keyId}`, {
    ...{ method: 'DELETE', headers: { authorization: `Bearer ${owner.token}` } },
  })
  t.is(ended.status, 204)
  await eventually('the other listener to refuse the key', async () => (await statusOf()) === 401, 10_000)
})

test('a key loses a project that another organisation takes over', async (t) => {
  const project = await addProjectOf(product, owner)
  const { key } = await makeKey(owner, { scopes: [...scopes, 'monitoring:read'], projects: [project.uuid] })
  const { base: before } = await product.ingress()
  t.false((await callTool(await connect(before, key), 'checks_list')).isError)
  const stranger = await openClient(product, base)
  const { organisationId: uuid } = stranger.credentials
  const other = await product.db('organisations').where({ uuid }).first('id')
  await product.db('projects').where({ id: project.id }).update({ organisation_id: other.id })
  // A listener that has not cached the key: the test of revocation covers the cache lifetime.
  const { base: after } = await product.ingress()
  t.like((await callTool(await connect(after, key), 'checks_list')).result, { code: 'NOT_FOUND' })
})

test('a call is authenticated before its origin, size and content are checked', async (t) => {
  for (const [what, body, headers] of [
    ['a foreign page', discover, { ...modern, origin: 'https://elsewhere.example' }],
    ['two MiB', ' '.repeat(2_097_152), {}],
    ['no JSON', '{"jsonrpc":', {}],
    ['another type', 'x', { 'Content-Type': 'text/plain' }],
  ] as const) {
    const answer = await rawPost(base, body, headers)
    t.is(answer.status, 401, what)
    t.truthy(answer.headers.get('www-authenticate'), what)
  }
})
